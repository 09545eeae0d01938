// What a report does: its charts, and the rows that were not matched, filtered by why, by a stretch of time and by words.
// `render` is the page's own; this file follows it in one module. All text is set as text.
const data = JSON.parse(document.getElementById("report").textContent);
const PAGE = 200;

// What an anywidget's model is to `render`.
function modelOf(chart, heard) {
  const values = { spec: chart.spec, drawing: JSON.stringify(chart.drawing), params: {}, clicked: {}, brushed: [], views: 0 };
  const listeners = {};
  return {
    get: (name) => values[name],
    set(name, value) { values[name] = value; heard[name]?.(value); },
    save_changes() {},
    on(name, listener) { (listeners[name] ??= []).push(listener); },
    change(name, value) { values[name] = value; for (const each of listeners[`change:${name}`] ?? []) each(); },
  };
}

const make = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const byId = (id) => document.getElementById(id);
const days = new Set(data.rows.time.map((time) => new Date(time).toISOString().slice(0, 10)));
const clock = (time) => new Date(time).toISOString().slice(days.size > 1 ? 0 : 11, -1).replace("T", " ");
const count = (number) => number.toLocaleString("en");

const rows = data.rows.id.map((id, place) => {
  const row = {};
  for (const name of Object.keys(data.rows)) row[name] = data.rows[name][place];
  row.stream = data.names[row.side === "left" ? 0 : 1];
  row.words = `${row.stream} ${row.key} ${row.reason}`.toLowerCase();
  return row;
});
const known = new Map(rows.map((row) => [row.id, row]));
const asked = { group: null, between: null, words: "", most: PAGE };
let picked = null, params = {}, home = {};

const theme = matchMedia("(prefers-color-scheme: dark)");
theme.addEventListener("change", () => location.reload());

const themed = (chart) => (theme.matches ? { ...chart, spec: darkened(chart.spec) } : chart);

const box = byId("timeline");
const model = modelOf(themed(data.charts.timeline), {
  clicked: ({ row_id }) => { if (row_id) pick(row_id, false); },
  brushed: (range) => look(range.length ? range : null),
});

// Look into a stretch of time, or at all of it again; the chart goes there, and its marks can be clicked.
function look(range) {
  asked.between = range;
  asked.most = PAGE;
  if ("low" in home) {
    const [low, high] = range ?? [home.low, home.high];
    const format = high - low < 2000 ? "%H:%M:%S.%L" : home.time_format;
    show({ low, high, time_format: range ? format : home.time_format });
  }
  list();
}

function show(values) {
  params = { ...params, ...values };
  model.change("params", params);
}

function pick(id, scroll = true) {
  picked = id;
  show({ picked: [id] });
  tell(id);
  list();
  if (!scroll) byId("rows").querySelector(".picked")?.scrollIntoView({ block: "nearest" });
}

function tell(id) {
  const row = known.get(id);
  const story = byId("story");
  const drawn = data.charts.timeline.drawing.tables.rows;
  const place = drawn?.row_id?.indexOf(id) ?? -1;
  let text = data.stories[id];
  let title = row ? `${row.stream}, key ${row.key}` : id;
  if (!text && row) text = `${row.reason}\n\n(The whole story of this row is left out of this report: run.why(…) tells it.)`;
  if (!text && place >= 0) {
    title = `${data.names[drawn.side[place] === "left" ? 0 : 1]}, key ${drawn.key[place]}`;
    const reason = drawn.reason?.[place];
    const left = drawn.fate[place] === "matched" ? "" : "\n\n(It is left out of the list of this report.)";
    text = `${drawn.fate[place].replace("_", " ")}${reason ? `: ${reason}` : ""}${left}`;
  }
  const fate = row ? data.groups[row.group].fate : place >= 0 ? drawn.fate[place] : "";
  const head = make("h3", title);
  if (fate) head.prepend(make("i", "", `dot fate-${fate}`));
  story.replaceChildren(head, told(text ?? ""), closing(story));
  story.classList.add("told");
  story.scrollTop = 0;
}

// Where the story lies over the page, it can be put away.
function closing(story) {
  const button = make("button", "✕");
  button.id = "close";
  button.setAttribute("aria-label", "Close the story");
  button.addEventListener("click", () => story.classList.remove("told"));
  return button;
}

// A story's lines: a word, and what is said of it; what follows with neither belongs to the line before.
function told(text) {
  const lines = text.split("\n");
  if (!lines.some((line) => /^ {2}\S/.test(line))) return make("p", text);
  const list = make("dl");
  for (const line of lines.slice(1)) {
    const [word, words] = [line.slice(2, 14).trim(), line.slice(14)];
    if (/^ {2}\S/.test(line)) list.append(make("dt", word), make("dd", words, word === "verdict" ? word : ""));
    else if (list.lastChild) list.lastChild.textContent += `\n${line.trim()}`;
  }
  return list;
}

function fits(row, but = "") {
  const { group, between, words } = asked;
  return (but === "group" || group === null || row.group === group)
    && (!between || (row.time >= between[0] && row.time <= between[1]))
    && (!words || row.words.includes(words));
}

function lineOf(row) {
  const line = make("tr", "", row.id === picked ? "picked" : "");
  line.tabIndex = 0;
  const fate = make("td");
  const word = data.groups[row.group].fate.replace("_", " ");
  fate.append(make("i", "", `dot fate-${data.groups[row.group].fate}`), word);
  const cells = [make("td", row.stream), make("td", row.key, row.key.length <= 24 ? "short" : ""), make("td", clock(row.time), "time"), make("td", row.batch, "number")];
  line.append(fate, ...cells, make("td", row.reason));
  line.addEventListener("click", () => pick(row.id));
  line.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(row.id); });
  return line;
}

function list() {
  const found = rows.filter((row) => fits(row));
  byId("rows").replaceChildren(...found.slice(0, asked.most).map(lineOf));
  const shown = Math.min(found.length, asked.most);
  byId("shown").textContent = shown < found.length ? `${count(shown)} of ${count(found.length)} rows` : `${count(found.length)} rows`;
  byId("more").hidden = shown === found.length;
  const all = byId("all");
  all.hidden = asked.group === null && !asked.between && !asked.words;
  all.textContent = asked.between ? `${clock(asked.between[0])} to ${clock(asked.between[1])} ✕` : "All rows ✕";
  for (const each of document.querySelectorAll("#groups button")) {
    each.setAttribute("aria-pressed", String(Number(each.dataset.group) === asked.group && asked.group !== null));
  }
}

function groups() {
  const most = Math.max(...data.groups.map((each) => each.rows));
  const buttons = data.groups.map((each, place) => {
    const button = make("button");
    button.dataset.group = place;
    const bar = make("span", "", `fate-${each.fate}`);
    bar.style.width = `${Math.max(1, (100 * each.rows) / most)}%`;
    const track = make("span", "", "track");
    track.title = `${count(each.rows)} of ${count(each.of)} rows`;
    track.append(bar);
    const label = make("span", "", "label");
    label.append(...each.glyphs.map((path) => glyph(path, "glyph")), each.label);
    button.append(make("b", count(each.rows)), track, label);
    button.addEventListener("click", () => {
      asked.group = asked.group === place ? null : place;
      asked.most = PAGE;
      list();
    });
    return button;
  });
  byId("groups")?.replaceChildren(...buttons);
}

byId("search").addEventListener("input", ({ target }) => {
  asked.words = target.value.trim().toLowerCase();
  asked.most = PAGE;
  list();
});
byId("all").addEventListener("click", () => {
  Object.assign(asked, { group: null, words: "" });
  byId("search").value = "";
  look(null);
});
byId("more").addEventListener("click", () => { asked.most += PAGE; list(); });
document.querySelector("#list thead").append(
  ...["fate", "stream", "key", "event time (UTC)", "micro-batch", "reason"].map((each) => make("th", each)),
);
for (const name of ["low", "high", "time_format"]) {
  if (name in data.charts.timeline.drawing.params) home[name] = data.charts.timeline.drawing.params[name];
}
if (!rows.length) byId("list").hidden = true;
groups();
list();
await render({ model, el: box });
if (data.charts.tuning) await render({ model: modelOf(themed(data.charts.tuning), {}), el: byId("tuning") });
document.body.dataset.ready = "yes";

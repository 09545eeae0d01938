// The band over the views: a bar of fates for each side, why rows of it were not matched below, and figures. What is
// pressed is what all views are filtered by; pressed again, nothing is. All text is set as text.
const count = (number) => number.toLocaleString("en");
const words = (fate) => fate.replace("_", " ");

const MOST = 3; // causes beside each other

function make(name, kind = "", text = "") {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  return made;
}

function render({ model, el }) {
  el.classList.add("sjw-band");

  function button(filter, kind, label, title) {
    const made = make("button", kind);
    made.type = "button";
    made.title = title;
    made.setAttribute("aria-label", label);
    made.dataset.filter = JSON.stringify(filter);
    made.addEventListener("click", () => {
      const same = made.dataset.filter === JSON.stringify(model.get("chosen"));
      model.set("chosen", same ? {} : filter);
      model.save_changes();
    });
    return made;
  }

  // Causes are words: as many as are read whole beside each other, or all of a side, one below the other.
  let drawn = 0; // pixels: how wide it was
  const opened = new Set();
  const whole = (causes) => [...causes.querySelectorAll(".sjw-cause-words")].every((each) => each.scrollWidth <= each.clientWidth);

  // The causes of a side, in its row; fewer where their words would be cut off, and of one that is long the lines.
  function causes(side, row) {
    for (let shown = MOST; shown > 0; shown -= 1) {
      const made = reasons(side, shown);
      row.querySelector(".sjw-causes").replaceWith(made);
      if (whole(made)) return;
    }
    row.querySelector(".sjw-causes").classList.add("sjw-wrapped");
  }

  function bar(side) {
    const row = make("div", "sjw-side"), name = make("b", "sjw-name", side.name), pieces = make("div", "sjw-bar");
    name.title = `${side.name}: ${count(side.rows)} rows`;
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", name.title);
    const counts = make("div", "sjw-counts");
    for (const { fate, rows, change } of side.fates) {
      const filter = { side: side.side, fate, cause: "" };
      const label = `${count(rows)} of ${count(side.rows)} rows of ${side.name} ${words(fate)}`;
      const piece = button(filter, `sjw-piece sjw-fate-${fate}`, label, label);
      piece.style.flexGrow = rows;
      piece.tabIndex = -1; // the words beside it say and do the same
      piece.setAttribute("aria-hidden", "true");
      pieces.append(piece);
      const told = button(filter, "sjw-count", `${label}: show these`, "Show these rows in all views.");
      told.append(make("i", `sjw-dot sjw-fate-${fate}`), make("b", "", count(rows)), ` ${words(fate)}`);
      if (change) told.append(make("em", `sjw-${change.tone}`, `${change.by > 0 ? "+" : "−"}${count(Math.abs(change.by))}`));
      counts.append(told);
    }
    row.append(name, pieces, counts, make("div", "sjw-causes"));
    return row;
  }

  function reasons(side, fits) {
    const causes = make("div", "sjw-causes");
    const most = Math.max(1, ...side.causes.map((each) => each.rows));
    const open = opened.has(side.side), shown = open ? side.causes : side.causes.slice(0, fits);
    causes.classList.toggle("sjw-all", open);
    for (const { cause, fate, rows, glyphs } of shown) {
      const label = `${count(rows)} of ${side.name}: ${cause}`;
      const one = button({ side: side.side, fate, cause }, "sjw-cause", label, `${label}. Show these rows in all views.`);
      const track = make("span", "sjw-track"), length = make("i", `sjw-fate-${fate}`);
      length.style.width = `${Math.max(6, (100 * rows) / most)}%`;
      track.append(length);
      one.append(make("b", "", count(rows)), track, ...glyphs.map((path) => glyph(path, "sjw-glyph")), make("span", "sjw-cause-words", cause));
      causes.append(one);
    }
    const hidden = side.causes.slice(shown.length).reduce((sum, each) => sum + each.rows, 0);
    if (open || hidden) causes.append(others(side, open, side.more + hidden));
    else if (side.more) causes.append(make("span", "sjw-more", `+ ${count(side.more)} of other causes`));
    return causes;
  }

  function others(side, open, rows) {
    const made = make("button", "sjw-more", open ? "fewer causes" : `+ ${count(rows)} of other causes`);
    made.type = "button";
    made.dataset.side = side.side;
    made.title = open ? "Show the most frequent causes only." : `Show all causes of ${side.name}.`;
    made.setAttribute("aria-expanded", String(open));
    made.addEventListener("click", () => {
      if (!opened.delete(side.side)) opened.add(side.side);
      draw();
      el.querySelector(`.sjw-more[data-side="${side.side}"]`)?.focus();
    });
    return made;
  }

  function figure({ name, value, unit, help, change }) {
    const one = make("span", "sjw-figure");
    one.title = help;
    one.append(make("b", "", count(value)), ` ${unit} ${name}`);
    if (change) one.append(make("em", `sjw-${change.tone}`, `${change.by > 0 ? "+" : "−"}${count(Math.abs(change.by))}`));
    return one;
  }

  function mark() {
    const chosen = JSON.stringify(model.get("chosen"));
    for (const each of el.querySelectorAll("[data-filter]")) each.setAttribute("aria-pressed", String(each.dataset.filter === chosen));
    el.classList.toggle("sjw-filtered", chosen !== "{}");
  }

  function draw() {
    const { sides = [], figures = [], since = "" } = model.get("shown");
    const focused = el.contains(document.activeElement) ? document.activeElement.dataset.filter : null;
    const longest = Math.max(0, ...sides.map((each) => each.name.length)); // both names in full, the bars one below the other
    el.style.setProperty("--sjw-names", `clamp(110px, ${longest + 2}ch, 260px)`);
    const last = make("div", "sjw-figure-row");
    last.append(...figures.map(figure));
    if (since) last.append(make("span", "sjw-since", since));
    const both = make("div", "sjw-sides");
    both.append(...sides.map(bar));
    drawn = el.clientWidth;
    el.replaceChildren(both, last);
    sides.forEach((side, place) => causes(side, both.children[place]));
    mark();
    if (focused) [...el.querySelectorAll("button")].find((each) => each.dataset.filter === focused && each.tabIndex >= 0)?.focus();
  }

  model.on("change:shown", draw);
  model.on("change:chosen", mark);
  draw();
  const sized = new ResizeObserver(() => { if (el.clientWidth && el.clientWidth !== drawn) draw(); });
  sized.observe(el);
  return () => sized.disconnect();
}

export default { render };

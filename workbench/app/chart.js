// Shows one drawing: a Vega-Lite layout, its tables and its parameters. A drawing of the same layout as the one before
// is filled into the view that is there; only another layout is compiled anew. vegaEmbed and lodashDebounce come with
// the bundle that vl-convert makes.
const MARGIN = 130, NARROWEST = 180, WIDEST = 1500, SMALL = 420;
const LABELS = 0.35; // of the chart's width
const NEAR = 20, DRAGGED = 4, ZOOM = 1.0015; // pixels, pixels, of the stretch a pixel of the wheel

const LETTER = 6.6; // pixels of a title's letter, about

// A title in lines, so that a narrow chart does not cut it off.
function wrapped(text, width) {
  if (typeof text !== "string") return text;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (!lines.at(-1) || longer.length * LETTER <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.length > 1 ? lines : text;
}

function fitted(part, width) {
  const copy = { ...part };
  if (typeof copy.width === "number") copy.width = width;
  if (copy.title) copy.title = { ...copy.title, limit: width, text: wrapped(copy.title.text, width) };
  for (const name of ["layer", "vconcat"]) {
    if (copy[name]) copy[name] = copy[name].map((each) => fitted(each, width));
  }
  return copy;
}

// A table comes as its columns: a third of the bytes of rows that each repeat all names.
function rowsOf(columns) {
  const names = Object.keys(columns);
  const rows = new Array(names.length ? columns[names[0]].length : 0);
  for (let place = 0; place < rows.length; place++) {
    const row = {};
    for (const name of names) row[name] = columns[name][place];
    rows[place] = row;
  }
  return rows;
}

// What each row holds, as text; rows that hold the same are told apart.
function keysOf(rows) {
  const seen = new Set();
  return rows.map((row) => {
    let key = JSON.stringify(Object.values(row));
    while (seen.has(key)) key += "+";
    seen.add(key);
    return key;
  });
}

// What a dark reader sees of a chart: the same colours as in the band over it and in a report, and light words.
const DARK = {
  "#2a78b5": "#4d9fdd", "#c98300": "#e9ac2b", "#b52413": "#e8604d", "#2f9cb5": "#6bc5d9", "#808080": "#9a9a9a",
  "#6a4c9c": "#b79ae6", "#2e8555": "#5cc08a",
  "#111111": "#f2f4f6", "#333333": "#d5dbe1", "#6b737d": "#98a2ad", "#dfe8f2": "#263442", "#b9cbe0": "#35506b",
  "#c3c9d0": "#3a444f", "#c3cfdb": "#35414e", "#f3d9a4": "#4d4227", "#fbe3b0": "#574a29", "#f7cf7e": "#6b5a2c",
  "#edd29b": "#4a3b1a", "#a35f00": "#b98416", "#6e3b00": "#8a6224", "#8a8070": "#9c958a", "#3f3f24": "#f3e2b8",
  "#ffffff": "#14181d", "#c4c9cf": "#56606b", "#c9ced6": "#56606b", "#dddddd": "#3a444f", "#bcd3ea": "#35506b", "#f1dfb3": "#4d4227",
};

function darkened(given) {
  const text = JSON.stringify(given).replace(/#[0-9a-f]{6}/gi, (colour) => DARK[colour.toLowerCase()] ?? colour);
  const spec = JSON.parse(text);
  const lines = { labelColor: "#d5dbe1", titleColor: "#98a2ad", gridColor: "#3a444f", domainColor: "#5a6470", tickColor: "#5a6470" };
  spec.config = { ...spec.config };
  spec.config.axis = { ...spec.config.axis, ...lines };
  spec.config.legend = { ...spec.config.legend, labelColor: "#d5dbe1", titleColor: "#98a2ad" };
  return spec;
}

// JupyterLab, and what shows its widgets, says so at the page's body; a report asks the reader's system by itself.
const isDark = () => document.body.dataset.jpThemeLight === "false";

function plain(value) {
  return JSON.parse(JSON.stringify(value ?? null));
}

async function render({ model, el }) {
  const title = document.createElement("div");
  const subtitle = document.createElement("div");
  const box = document.createElement("div");
  title.className = "sjw-chart-title";
  subtitle.className = "sjw-chart-subtitle";
  el.classList.add("sjw-chart");
  el.append(title, subtitle, box);
  const marker = document.createElement("div");
  marker.className = "sjw-stretch";
  let held = {}; // of each table the rows that Vega has, by what they hold
  let api = null, shown = null, width = 0, busy = false, again = false, clicks = 0, moved = false;

  const room = () => Math.max(NARROWEST, Math.min(WIDEST, el.clientWidth - MARGIN));

  // What a saved notebook shows when the kernel is gone; taken here, since the kernel would stand still meanwhile.
  const picture = lodashDebounce(() => {
    const canvas = box.querySelector("canvas");
    if (!canvas?.clientWidth || !el.dataset.painted) return;
    const copy = document.createElement("canvas");
    copy.width = canvas.clientWidth;
    copy.height = canvas.clientHeight;
    const paper = copy.getContext("2d");
    paper.fillStyle = isDark() ? "#111111" : "#ffffff";
    paper.fillRect(0, 0, copy.width, copy.height);
    paper.drawImage(canvas, 0, 0, copy.width, copy.height);
    model.set("picture", { number: Number(el.dataset.painted), png: copy.toDataURL("image/png").split(",")[1] });
    model.save_changes();
  }, 1000, { maxWait: 10000 });

  function signals(values) {
    for (const [name, value] of Object.entries(values)) {
      try { api.view.signal(name, plain(value)); } catch { /* this layout has no such parameter */ }
    }
  }

  // What is dragged over, clicked and scrolled is read here, the same for every chart: dragging chooses a stretch of the
  // shared axis, a double click all of it, a click the nearest row; the wheel scrolls the page, and zooms with Ctrl.

  // The parts of the chart that are drawn in, in pixels from the chart's origin.
  function areas() {
    const root = api.view.scenegraph().root.items[0];
    const parts = root.items.filter((each) => each.marktype === "group" && each.role === "scope");
    return (parts.length ? parts.map((each) => each.items[0]) : [root]).map(({ x, y, width, height }) => ({
      x: x || 0, y: y || 0, width: width ?? api.view.width(), height: height ?? api.view.height(),
    }));
  }

  function pointAt(event) {
    const bounds = box.querySelector("canvas").getBoundingClientRect(), [left, top] = api.view.origin();
    return { x: event.clientX - bounds.left - left, y: event.clientY - bounds.top - top };
  }

  // The axis below a point: where it begins and ends, in pixels and in its own unit. The strip over the tracks shows all.
  function axisAt(point) {
    const found = areas();
    const along = shown.along, across = along === "x" ? "y" : "x";
    const reach = (each) => each[across] + (across === "x" ? each.width : each.height);
    const area = found.find((each) => point[across] <= reach(each)) ?? found.at(-1);
    const strip = "first" in shown.params && area === found[0];
    const ends = strip ? ["first", "last"] : ["low", "high"];
    const [low, high] = ends.map((each) => Number(api.view.signal(each)));
    const first = Math.min(...found.map((each) => each.y)), last = Math.max(...found.map((each) => each.y + each.height));
    return { along, low, high, area, strip, top: strip ? area.y : first, bottom: strip ? area.y + area.height : last };
  }

  function valueAt(point, axis) {
    const part = axis.along === "x"
      ? (point.x - axis.area.x) / axis.area.width : 1 - (point.y - axis.area.y) / axis.area.height;
    return axis.low + Math.min(1, Math.max(0, part)) * (axis.high - axis.low);
  }

  const choose = lodashDebounce((stretch) => {
    model.set("brushed", stretch);
    model.save_changes();
  }, 120);

  function look(low, high) {
    signals({ low, high });
    api.view.runAsync();
    choose([low, high]);
  }

  function veil(axis, from, to) {
    const [left, top] = api.view.origin();
    const canvas = box.querySelector("canvas");
    const [x, y] = [left + canvas.offsetLeft, top + canvas.offsetTop];
    const [one, other] = [Math.min(from[axis.along], to[axis.along]), Math.max(from[axis.along], to[axis.along])];
    const place = axis.along === "x"
      ? { left: x + one, width: other - one, top: y + axis.top, height: axis.bottom - axis.top }
      : { left: x + axis.area.x, width: axis.area.width, top: y + one, height: other - one };
    for (const [name, value] of Object.entries(place)) marker.style[name] = `${value}px`;
    marker.style.display = "block";
  }

  box.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.button !== 0 || event.target.tagName !== "CANVAS" || !api || !shown?.along) return;
    const from = pointAt(event), axis = axisAt(from);
    const bound = (point) => {
      const low = axis.area[axis.along], size = axis.along === "x" ? axis.area.width : axis.area.height;
      return { ...point, [axis.along]: Math.min(low + size, Math.max(low, point[axis.along])) };
    };
    const start = bound(from);
    const move = (next) => {
      const to = bound(pointAt(next));
      if (!moved && Math.abs(to[axis.along] - start[axis.along]) < DRAGGED) return;
      moved = true;
      veil(axis, start, to);
    };
    const leave = () => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      document.removeEventListener("pointercancel", leave);
      marker.style.display = "none";
    };
    const end = (last) => {
      leave();
      if (!moved) return;
      const ends = [valueAt(start, axis), valueAt(bound(pointAt(last)), axis)].sort((one, other) => one - other);
      if (ends[1] > ends[0]) look(...ends);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
    document.addEventListener("pointercancel", leave);
  });

  box.addEventListener("dblclick", () => {
    if (shown?.along) choose([]);
  });

  box.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey) || !api || !shown?.along) return;
    event.preventDefault();
    const point = pointAt(event), axis = axisAt(point);
    if (axis.strip) return;
    const at = valueAt(point, axis), by = ZOOM ** event.deltaY;
    zoomTo(at - (at - axis.low) * by, at + (axis.high - at) * by);
  }, { passive: false });

  // Beyond its ends the whole axis is shown.
  function zoomTo(low, high) {
    const { first = -Infinity, last = Infinity } = shown.params;
    if (low <= first && high >= last) choose([]);
    else if (high > low) look(Math.max(low, first), Math.min(high, last));
  }

  const KEYS = { "+": [0.25, -0.25], "-": [-0.5, 0.5], ArrowLeft: [-0.5, -0.5], ArrowRight: [0.5, 0.5] };
  box.addEventListener("keydown", (event) => {
    if (!api || !shown?.along || event.target !== box) return;
    const [low, high] = ["low", "high"].map((each) => Number(api.view.signal(each)));
    const { first = low, last = high } = shown.params;
    if (event.key === "Escape" || event.key === "0") choose([]);
    else if (event.key in KEYS) {
      const [one, other] = KEYS[event.key].map((each) => each * (high - low));
      const shift = one === other ? Math.min(Math.max(one, first - low), last - high) : null;
      if (shift === null) zoomTo(low + one, high + other);
      else if (shift) look(low + shift, high + shift);
    } else return;
    event.preventDefault();
  });

  // The nearest mark of a row or setting within reach of a point.
  function nearest(point) {
    let best = null, distance = NEAR;
    const visit = (mark, x, y) => {
      for (const item of mark.items ?? []) {
        if (mark.marktype === "group") {
          for (const each of item.items ?? []) visit(each, x + (item.x || 0), y + (item.y || 0));
        } else if (mark.marktype === "symbol" && (item.datum?.row_id || item.datum?.place != null)) {
          const apart = Math.hypot(x + item.x - point.x, y + item.y - point.y);
          if (apart < distance) [best, distance] = [item.datum, apart];
        }
      }
    };
    visit(api.view.scenegraph().root, 0, 0);
    return best;
  }

  function watch() {
    api.view.addEventListener("click", (event, item) => {
      if (moved) return;
      const { row_id = null, window = null, place = null, of_key = null } = nearest(pointAt(event)) ?? item?.datum ?? {};
      model.set("clicked", { row_id, window, place, of_key, click: ++clicks });
      model.save_changes();
    });
    api.view.addEventListener("mouseover", (_, item) => {
      signals({ hovered: item?.datum?.row_id ?? "" });
      api.view.runAsync();
    });
  }

  async function embed(drawing) {
    width = room();
    const given = plain(model.get("spec"));
    await draw(drawing, given, width);
    const over = box.scrollWidth - el.clientWidth; // labels of an axis, such as long names of streams
    if (over > 0 && width > NARROWEST) await draw(drawing, given, Math.max(NARROWEST, width - over));
  }

  async function draw(drawing, given, across) {
    api?.finalize();
    const spec = fitted(isDark() ? darkened(given) : given, across);
    const tables = Object.entries(drawing.tables).map(([name, each]) => [name, rowsOf(each)]);
    const keys = tables.map(([name, rows]) => [name, keysOf(rows)]); // before Vega makes times of numbers
    spec.datasets = { ...spec.datasets, ...Object.fromEntries(tables) };
    spec.background = "transparent";
    spec.config.axis = { ...spec.config.axis, labelLimit: Math.min(spec.config.axis.labelLimit, LABELS * el.clientWidth) };
    if (across < SMALL) spec.config.legend = { ...spec.config.legend, columns: 2 };
    spec.params = (spec.params ?? []).filter((each) => each.name !== "zoom"); // what is dragged is read above
    for (const each of spec.params) {
      if (each.name in drawing.params) each.value = drawing.params[each.name];
      if (each.name === "room") each.value = across; // by which a legend has columns
    }
    const actions = { export: true, source: false, compiled: false, editor: false };
    api = await vegaEmbed(box, spec, { mode: "vega-lite", renderer: "canvas", actions });
    box.view = api.view;
    held = Object.fromEntries(keys.filter(([name]) => known(name)).map(([name, each]) => {
      const rows = api.view.data(name);
      return [name, new Map(each.map((key, place) => [key, rows[place]]))];
    }));
    box.append(marker);
    watch();
  }

  // Makes the rows that Vega has of a table into others. Rows that are the same stay: most are, when a bound moves, and
  // Vega would encode, place and draw each of them anew.
  function replace(name, rows) {
    if (!known(name)) return;
    const before = held[name] ?? new Map(), keys = keysOf(rows);
    const now = new Map(keys.map((key, place) => [key, before.get(key) ?? rows[place]]));
    const gone = [...before].filter(([key]) => !now.has(key)).map(([, row]) => row);
    const inserted = rows.filter((_, place) => !before.has(keys[place]));
    held[name] = now;
    if (gone.length || inserted.length) change(name, gone, inserted);
  }

  // Whether the layout shows a table.
  function known(name) {
    try { return Boolean(api.view.data(name)); } catch { return false; }
  }

  // Takes rows out and puts others in as one change, for which the view itself has no method.
  function change(name, gone, inserted) {
    const view = api.view, pulse = view.pulse;
    view.pulse = (dataset, changes) => pulse.call(view, dataset, changes.remove(gone));
    view.insert(name, inserted);
    delete view.pulse;
  }

  async function fill(drawing) {
    for (const [name, table] of Object.entries(drawing.tables)) replace(name, rowsOf(table));
    signals(drawing.params);
    api.view.resize(); // labels of an axis may be longer than those before
    await api.view.runAsync();
  }

  function describe(drawing) {
    const words = `${drawing.title}: ${drawing.subtitle}`;
    api.view.description(words);
    box.tabIndex = drawing.along ? 0 : -1;
    box.setAttribute("role", "group");
    const keys = drawing.along ? ". Arrow keys move along the axis, plus and minus zoom, Escape shows all of it" : "";
    box.setAttribute("aria-label", `Chart: ${words}${keys}`);
  }

  const unpointed = () => document.getElementById("vg-tooltip-element")?.classList.remove("visible");

  async function once() {
    if (!model.get("drawing")) return;
    unpointed(); // the mark may be gone
    const drawing = JSON.parse(model.get("drawing"));
    drawing.params = { ...drawing.params, ...model.get("params") }; // which may have changed since
    title.textContent = drawing.title;
    subtitle.textContent = drawing.subtitle;
    if (api && shown?.layout === drawing.layout && width === room()) await fill(drawing);
    else await embed(drawing);
    box.style.overflowX = box.scrollWidth > el.clientWidth ? "auto" : ""; // a label that is wider than a narrow page
    shown = { layout: drawing.layout, along: drawing.along, params: drawing.params };
    describe(drawing);
    el.dataset.painted = drawing.number;
    model.set("painted", drawing.number);
    model.save_changes();
    picture();
  }

  async function paint() {
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again) {
        again = false;
        await once();
      }
    } catch (error) {
      subtitle.textContent = `this chart could not be drawn: ${error.message}`;
      shown = null;
    } finally {
      busy = false;
    }
  }

  const count = (by) => {
    model.set("views", model.get("views") + by);
    model.save_changes();
  };

  count(1);
  model.on("change:drawing", paint);
  model.on("change:params", () => {
    if (!api) return;
    signals(model.get("params"));
    api.view.runAsync().then(picture);
  });
  const resized = new ResizeObserver(lodashDebounce(() => {
    if (api && el.clientWidth && Math.abs(room() - width) > 8) paint();
  }, 200));
  resized.observe(el);
  const themes = new MutationObserver(() => {
    if (!api) return;
    shown = null; // it is compiled anew, in other colours
    paint();
  });
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  await paint();
  window.addEventListener("scroll", unpointed, { capture: true, passive: true }); // the mark has moved from below it
  return () => {
    window.removeEventListener("scroll", unpointed, { capture: true });
    resized.disconnect();
    themes.disconnect();
    picture.cancel();
    api?.finalize();
    count(-1);
  };
}

export default { render };

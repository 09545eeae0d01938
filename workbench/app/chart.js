// Shows one drawing: a Vega-Lite layout, its tables and its parameters. A drawing of the same layout as the one before
// is filled into the view that is there; only another layout is compiled anew. vegaEmbed and lodashDebounce come with
// the bundle that vl-convert makes.
const MARGIN = 130, NARROWEST = 180, WIDEST = 1100, SMALL = 420;

function fitted(part, width) {
  const copy = { ...part };
  if (typeof copy.width === "number") copy.width = width;
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
  let api = null, shown = null, width = 0, busy = false, again = false, clicks = 0;

  const room = () => Math.max(NARROWEST, Math.min(WIDEST, el.clientWidth - MARGIN));

  function signals(values) {
    for (const [name, value] of Object.entries(values)) {
      try { api.view.signal(name, plain(value)); } catch { /* this layout has no such parameter */ }
    }
  }

  function watch(spec) {
    api.view.addEventListener("click", (_, item) => {
      const { row_id = null, window = null, place = null } = item?.datum ?? {};
      model.set("clicked", { row_id, window, place, click: ++clicks });
      model.save_changes();
    });
    if (!spec.params?.some((each) => each.name === "brush")) return;
    api.view.addSignalListener("brush", lodashDebounce((_, value) => {
      const [range] = Object.values(value ?? {});
      if (!range || range[0] === range[1]) return;
      model.set("brushed", range.map(Number).sort((one, other) => one - other));
      model.save_changes();
    }, 400));
  }

  async function embed(drawing) {
    api?.finalize();
    width = room();
    const spec = fitted(plain(model.get("spec")), width);
    spec.datasets = Object.fromEntries(Object.entries(drawing.tables).map(([name, each]) => [name, rowsOf(each)]));
    spec.background = "transparent";
    if (width < SMALL) spec.config.legend = { ...spec.config.legend, columns: 2 };
    for (const each of spec.params ?? []) {
      if (each.name in drawing.params) each.value = drawing.params[each.name];
    }
    const actions = { export: true, source: false, compiled: false, editor: false };
    api = await vegaEmbed(box, spec, { mode: "vega-lite", renderer: "canvas", actions });
    box.view = api.view;
    watch(spec);
    shown = drawing.layout;
  }

  async function fill(drawing) {
    for (const [name, table] of Object.entries(drawing.tables)) {
      try { api.view.data(name, rowsOf(table)); } catch { /* this layout does not show that table */ }
    }
    signals(drawing.params);
    await api.view.runAsync();
  }

  async function once() {
    if (!model.get("drawing")) return;
    const drawing = JSON.parse(model.get("drawing"));
    title.textContent = drawing.title;
    subtitle.textContent = drawing.subtitle;
    if (api && shown === drawing.layout && width === room()) await fill(drawing);
    else await embed(drawing);
    el.dataset.painted = drawing.number;
    model.set("painted", drawing.number);
    model.save_changes();
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
    api.view.runAsync();
  });
  const resized = new ResizeObserver(lodashDebounce(() => {
    if (api && el.clientWidth && Math.abs(room() - width) > 8) paint();
  }, 200));
  resized.observe(el);
  await paint();
  return () => {
    resized.disconnect();
    api?.finalize();
    count(-1);
  };
}

export default { render };

// What a page is set to is saved with its notebook, in outputs beside it that the kernel writes. Once the browser has been
// reloaded, JupyterLab finds these outputs no more by what the kernel calls them; the page then writes them itself.
const PATIENCE = 1500; // milliseconds in which what the kernel writes arrives

function text(output) {
  const found = output.data["text/html"] ?? "";
  return Array.isArray(found) ? found.join("") : found;
}

// The outputs of the cell of a page, and the place of the one that it is saved in.
function saved(context, name) {
  const cells = context?.model?.cells;
  for (let number = 0; number < (cells?.length ?? 0); number += 1) {
    const outputs = cells.get(number).outputs;
    for (let place = 0; place < (outputs?.length ?? 0); place += 1) {
      if (text(outputs.get(place)).includes(`class="sjw-saved-${name}"`)) return { outputs, place };
    }
  }
  return null;
}

function write(outputs, place, data) {
  if (data && outputs.get(place)) outputs.set(place, { output_type: "display_data", data, metadata: {} });
}

function render({ model, el }) {
  el.style.display = "none";
  let due = 0;

  const hold = () => {
    const { name, version, summary, picture } = model.get("saved");
    const found = version && saved(model.widget_manager?.context, name);
    if (!found || text(found.outputs.get(found.place)).includes(`data-saved="${version}"`)) return;
    if (!summary) {
      model.set("writes", true);
      model.save_changes();
      return;
    }
    write(found.outputs, found.place, summary);
    write(found.outputs, found.place + 1, picture);
  };

  const soon = () => {
    clearTimeout(due);
    due = setTimeout(hold, model.get("writes") ? 0 : PATIENCE);
  };

  model.on("change:saved", soon);
  soon();
  return () => {
    clearTimeout(due);
    model.off("change:saved", soon);
  };
}

export default { render };

// ipywidgets draws tabs, sliders and buttons without the roles and names that assistive technology needs; it tells
// nobody when the kernel is gone; and JupyterLab takes keys that are pressed in a page for its own.
const GONE = "The kernel of this page was restarted or shut down: the page no longer answers. "
  + "Run the notebook's cells from the first one: it comes back with the settings that the notebook was saved with. "
  + "The rows of runs that were not kept are lost.";

function named(element, name) {
  if (name && element.getAttribute("aria-label") !== name) element.setAttribute("aria-label", name);
}

function tabs(row) {
  const buttons = [...row.querySelectorAll("button")];
  const list = buttons[0]?.parentElement;
  if (!list) return;
  list.setAttribute("role", "tablist");
  named(list, row.matches(".sjw-groups") ? "Groups of views" : "Views");
  for (const each of buttons) {
    each.setAttribute("role", "tab");
    each.setAttribute("aria-selected", String(each.classList.contains("mod-active")));
    each.tabIndex = each.classList.contains("mod-active") ? 0 : -1;
  }
}

function choices(row) {
  for (const each of row.querySelectorAll("button")) {
    each.setAttribute("aria-pressed", String(each.classList.contains("mod-active")));
  }
}

// What can be scrolled or is told anew is a part of the page with a name.
const PARTS = [
  [".dt-scroll-body", "Rows"], [".sjw-code pre", "Code"], [".sjw-story", "Story of the picked row"],
  [".sjw-changes", "Rows of another fate"], [".sjw-beside", "Settings beside each other"],
];

function part(element, name) {
  element.tabIndex = 0;
  element.setAttribute("role", "region");
  named(element, name);
}

function folded(header) {
  header.tabIndex = 0;
  header.setAttribute("role", "button");
  header.setAttribute("aria-expanded", String(Boolean(header.closest(".jupyter-widget-Collapse-open"))));
}

// A file is a link where Jupyter's server shows it: below the root of its notebooks, which JupyterLab's page names.
function linked(file) {
  const { rootUri = "", baseUrl = "/" } = JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}");
  const root = rootUri.startsWith("file:///") && `${decodeURIComponent(new URL(rootUri).pathname).replace(/\/+$/, "")}/`;
  const path = file.dataset.file;
  if (!root || !path.startsWith(root)) return;
  file.href = `${baseUrl}files/${path.slice(root.length).split("/").map(encodeURIComponent).join("/")}`;
  file.target = "_blank";
  file.rel = "noopener";
}

function improve(page) {
  for (const each of page.querySelectorAll("a[data-file]:not([href])")) linked(each);
  for (const row of page.querySelectorAll(".sjw-groups, .sjw-tabs")) tabs(row);
  for (const row of page.querySelectorAll(".widget-toggle-buttons:not(.sjw-groups, .sjw-tabs)")) choices(row);
  for (const slider of page.querySelectorAll(".widget-slider")) {
    const box = slider.closest(".widget-inline-hbox") ?? slider;
    const label = box.querySelector(".widget-label")?.textContent || box.title || slider.title || "Micro-batch";
    slider.querySelectorAll(".noUi-handle").forEach((each, place, all) => {
      named(each, all.length > 1 ? `${label}, ${place ? "end" : "begin"}` : label);
    });
    for (const each of box.querySelectorAll(".widget-readout")) named(each, `${label}, value`);
  }
  const play = ["Play", "Stop", "Repeat"];
  for (const row of page.querySelectorAll(".widget-play")) {
    row.querySelectorAll("button").forEach((each, place) => named(each, each.title || play[place]));
  }
  for (const each of page.querySelectorAll("button:not([aria-label])")) {
    if (!each.textContent.trim()) named(each, each.title);
  }
  for (const each of page.querySelectorAll("input:not([aria-label]), select:not([aria-label])")) {
    if (!each.labels?.length) named(each, each.closest("[title]")?.title || each.placeholder);
  }
  for (const [found, name] of PARTS) for (const each of page.querySelectorAll(found)) part(each, name);
  for (const each of page.querySelectorAll(".jupyter-widget-Collapse-header")) folded(each);
  for (const each of page.querySelectorAll(".dt-scroll-body table")) named(each, "Rows");
  for (const each of page.querySelectorAll(".dt-scroll-head")) each.setAttribute("aria-hidden", "true"); // the body has one
  for (const each of page.querySelectorAll(".sjw-story, .sjw-effect")) each.setAttribute("aria-live", "polite");
  for (const each of page.querySelectorAll(".vega-embed summary")) named(each, "Save the chart");
}

function arrows(event) {
  const tab = event.target.closest?.("[role=tab]");
  if (!tab || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  const all = [...tab.parentElement.querySelectorAll("[role=tab]")];
  const next = all[(all.indexOf(tab) + (event.key === "ArrowRight" ? 1 : -1) + all.length) % all.length];
  next.focus();
  next.click();
  event.preventDefault();
}

// What is folded opens by the keys of a button.
function unfolds(event) {
  if (!event.target.matches?.(".jupyter-widget-Collapse-header") || !["Enter", " "].includes(event.key)) return;
  event.target.click();
  event.preventDefault();
}

// What a fix changed is taken back by the key that takes back elsewhere, too; in a field it is the field's own.
function undo(event) {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input, textarea")) return;
  const icon = event.currentTarget.querySelector(event.shiftKey ? ".fa-repeat" : ".fa-undo");
  icon?.closest("button")?.click();
  event.preventDefault();
}

// The page's own keys lead from row to row that was not matched, and apply a row's fix; in a field they are letters.
const OWN = ["n", "p", "f"];
const NAME = "Stream-join workbench. Keys: n, the next row that was not matched; p, the one before; f, its fix";

function pressed(model, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !OWN.includes(event.key)) return;
  if (event.target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  model.set("pressed", { key: event.key, count: (model.get("pressed").count ?? 0) + 1 });
  model.save_changes();
  event.preventDefault();
}

// Files that are dropped on the page are sent to it, with the place of the button that they were dropped nearest to.
const LARGEST = 9.5e6; // bytes: JupyterLab's server takes 10 MiB in a message, and closes the connection at more

function nearest(page, event) {
  if (!event.target.closest?.(".sjw-settings")) return -1;
  const shown = [...page.querySelectorAll("button.sjw-upload")].filter((each) => each.offsetParent);
  const apart = shown.map((each) => Math.abs(each.getBoundingClientRect().top - event.clientY));
  return apart.indexOf(Math.min(...apart));
}

function dragged(page, event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
  page.classList.add("sjw-drop");
}

async function dropped(model, page, event) {
  page.classList.remove("sjw-drop");
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  const place = nearest(page, event);
  const files = await Promise.all([...event.dataTransfer.files].map(async (each) => {
    const bytes = each.size > LARGEST ? null : await each.arrayBuffer().catch(() => null); // a folder has none
    const content = bytes && new DataView(bytes);
    return { name: each.name, type: each.type, size: each.size, last_modified: each.lastModified, content };
  }));
  model.set("dropped", { files, place });
  model.save_changes();
}

const WIDE = 1160; // pixels, as in app.css

function render({ model, el }) {
  el.style.display = "none";
  let page = null, seen = null, sized = null, due = 0;

  const soon = () => {
    if (due) return;
    due = requestAnimationFrame(() => {
      due = 0;
      improve(page);
      keep();
      if (page.querySelector(".jupyter-widgets-disconnected")) gone(); // the class that ipywidgets gives such widgets
    });
  };

  const gone = () => {
    if (!page || page.classList.contains("sjw-gone")) return;
    const note = document.createElement("div");
    note.className = "sjw-gone-note";
    note.setAttribute("role", "alert");
    note.textContent = GONE;
    page.classList.add("sjw-gone");
    page.prepend(note);
  };

  // JupyterLab's shortcuts ask the element that has the focus first, and then what it lies in; saving is JupyterLab's.
  const suppressed = (event) => {
    if (!page?.contains(event.target)) return;
    const saves = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    if (saves) event.target.removeAttribute("data-lm-suppress-shortcuts");
    else event.target.dataset.lmSuppressShortcuts = "true";
  };

  // A button that goes away takes the focus with it; the page keeps it, so that its keys go on.
  let inside = false;
  const left = (event) => { if (!page?.contains(event.target)) inside = false; };
  const keep = () => { if (inside && document.activeElement === document.body) page.focus({ preventScroll: true }); };

  const attach = () => {
    page = el.closest(".sjw");
    if (!page) {
      due = requestAnimationFrame(attach);
      return;
    }
    due = 0;
    page.tabIndex = -1;
    page.addEventListener("focusin", () => { inside = true; });
    document.addEventListener("focusin", left);
    document.addEventListener("pointerdown", left);
    window.addEventListener("keydown", suppressed, true); // before JupyterLab, which listens at the document
    page.setAttribute("role", "region");
    page.setAttribute("aria-label", NAME);
    page.addEventListener("keydown", arrows);
    page.addEventListener("keydown", unfolds);
    page.addEventListener("keydown", undo);
    page.addEventListener("keydown", (event) => pressed(model, event));
    page.addEventListener("dragover", (event) => dragged(page, event));
    page.addEventListener("dragleave", (event) => { if (!page.contains(event.relatedTarget)) page.classList.remove("sjw-drop"); });
    page.addEventListener("drop", (event) => dropped(model, page, event));
    let seenBefore = page.clientWidth > 0;
    sized = new ResizeObserver(() => {
      const shown = page.clientWidth > 0;
      if (shown && !seenBefore) window.dispatchEvent(new Event("resize")); // tables fit their columns again
      seenBefore = shown;
      const wide = page.clientWidth >= WIDE;
      if (!page.clientWidth || wide === model.get("wide")) return;
      model.set("wide", wide);
      model.save_changes();
    });
    sized.observe(page);
    seen = new MutationObserver(soon);
    seen.observe(page, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
    improve(page);
  };

  attach();
  // a kernel that is shut down, and not restarted, leaves ipywidgets' own widgets as they are
  const kernel = model.widget_manager?.kernel;
  const status = (_, now) => { if (now === "dead") gone(); };
  kernel?.statusChanged?.connect(status);
  kernel?.disposed?.connect(gone);
  return () => {
    kernel?.statusChanged?.disconnect(status);
    kernel?.disposed?.disconnect(gone);
    cancelAnimationFrame(due);
    seen?.disconnect();
    sized?.disconnect();
    document.removeEventListener("focusin", left);
    document.removeEventListener("pointerdown", left);
    window.removeEventListener("keydown", suppressed, true);
  };
}

export default { render };

// Text with its highlighted form, to copy or download.
function render({ model, el }) {
  el.classList.add("sjw-code");
  const bar = document.createElement("div");
  const copy = document.createElement("button");
  const save = document.createElement("button");
  const body = document.createElement("div");
  bar.className = "sjw-code-bar";
  copy.className = save.className = "jupyter-button";
  copy.textContent = "Copy";
  save.textContent = "Download";
  bar.append(copy, save);
  el.append(bar, body);

  copy.onclick = async () => {
    const text = model.get("text");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      el.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  };
  save.onclick = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([model.get("text")], { type: "text/plain" }));
    link.download = model.get("file");
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const draw = () => { body.innerHTML = model.get("html"); };
  model.on("change:html", draw);
  draw();
}

export default { render };

const SVG = "http://www.w3.org/2000/svg";

// The shape that rows of a cause have in the charts; the band of the page and the report put it beside the cause.
function glyph(path, kind) {
  const picture = document.createElementNS(SVG, "svg"), shape = document.createElementNS(SVG, "path");
  picture.setAttribute("viewBox", "-1.1 -1.1 2.2 2.2");
  picture.setAttribute("class", kind);
  picture.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  picture.append(shape);
  return picture;
}

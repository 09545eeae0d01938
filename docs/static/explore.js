// Draws an explorable page's chart at the position of its controls, and writes the figures of its text.
"use strict";

const TOP = 26;
const BOTTOM = 40;
const WIDE = { width: 760, left: 62, right: 118, narrow: false };
const NARROW = { width: 420, left: 54, right: 72, narrow: true };
const NAMES = { late_watermark: "late up to here", watermark: "watermark" };
const [SIDE, KEY, TIME, BATCH, FATE, LEAVES, OUT, REASON] = [0, 1, 2, 3, 4, 5, 6, 7];

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function clock(seconds) {
  const whole = 36000 + Math.round(seconds);
  return [3600, 60, 1].map((unit, place) => String(Math.floor(whole / unit) % (place ? 60 : 24)).padStart(2, "0")).join(":");
}

function glyph(data, row, x, y, below = false) {
  const mark = element("g", { transform: `translate(${x},${y})`, class: `fate-${data.fates[row[FATE]]}` });
  mark.append(element("path", { d: data.shapes[row[FATE]], class: "glyph" }));
  const text = element("text", { x: 0, y: below ? 18 : -9, class: `key side-${row[SIDE]}`, "text-anchor": "middle" }, row[KEY]);
  mark.append(text);
  return mark;
}

/** What is the same at all positions, so that nothing but the rows moves: the range of times and of micro-batches. */
function extent(data) {
  const rows = data.positions.flatMap((each) => each.rows);
  const spans = data.positions.flatMap((each) => each.spans);
  const times = [...rows.map((row) => row[TIME]), ...spans.flatMap(([begin, end]) => [begin, end])];
  return {
    first: Math.floor(Math.min(...times) / 10) * 10,
    last: Math.ceil((Math.max(...times) + 1) / 10) * 10,
    batches: Math.max(...rows.map((row) => row[BATCH])) + 1,
    states: Math.max(...data.positions.map((each) => each.state.length)),
    most: Math.max(...data.positions.flatMap((each) => each.state)),
    rows: Math.max(...data.positions.map((each) => each.rows.length)),
  };
}

function ticks(range) {
  return Array.from({ length: (range.last - range.first) / 10 + 1 }, (_, place) => range.first + 10 * place);
}

/** By micro-batch and event time, with watermarks as steps. */
function arrival(data, range, frame) {
  const height = 400;
  const bottom = height - BOTTOM;
  const column = (frame.width - frame.left - frame.right) / range.batches;
  const y = (time) => bottom - ((time - range.first) / (range.last - range.first)) * (bottom - TOP);
  const left = (batch) => frame.left + batch * column;
  const draw = (position, svg) => {
    for (let batch = 0; batch < range.batches; batch++) {
      if (batch % 2 === 0) svg.append(element("rect", { x: left(batch), y: TOP, width: column, height: bottom - TOP, class: "band" }));
      svg.append(element("text", { x: left(batch) + column / 2, y: bottom + 16, class: "tick", "text-anchor": "middle" }, String(batch)));
    }
    svg.append(element("text", { x: left(range.batches / 2), y: bottom + 34, class: "title", "text-anchor": "middle" }, "micro-batch in which a row arrives"));
    for (const time of ticks(range)) {
      svg.append(element("line", { x1: frame.left, x2: left(range.batches), y1: y(time), y2: y(time), class: "grid" }));
      svg.append(element("text", { x: frame.left - 6, y: y(time) + 4, class: "tick", "text-anchor": "end" }, clock(time)));
    }
    svg.append(element("text", { x: frame.left, y: 14, class: "title" }, "event time"));
    const ends = [];
    for (const [name, marks] of Object.entries(position.lines)) {
      const inside = marks.map((mark) => (mark === null || mark < range.first ? null : mark));
      if (name === "late_watermark") {
        inside.forEach((mark, batch) => {
          if (mark !== null) svg.append(element("rect", { x: left(batch), y: y(mark), width: column, height: bottom - y(mark), class: "too-late" }));
        });
      }
      const path = inside.map((mark, batch) => (mark === null ? "" : `${batch && inside[batch - 1] !== null ? "L" : "M"}${left(batch)},${y(mark)}H${left(batch + 1)}`)).join("");
      const side = data.sides.indexOf(name);
      const kind = side < 0 ? name : `own side-${side}`;
      svg.append(element("path", { d: path, class: `mark mark-${kind}` }));
      const last = inside[range.batches - 1];
      if (last !== null && last !== undefined) ends.push({ at: y(last), text: NAMES[name] ?? `of ${name}`, kind });
    }
    ends.sort((one, other) => one.at - other.at);
    ends.forEach((each, place) => {
      if (place) each.at = Math.max(each.at, ends[place - 1].at + 14);
      svg.append(element("text", { x: left(range.batches) + 6, y: each.at + 4, class: `name mark-${each.kind}` }, each.text));
    });
    const places = spread(position.rows, (row) => left(row[BATCH]) + column * (row[SIDE] ? 0.7 : 0.3), column);
    for (const [one, other] of position.pairs) {
      const [from, to] = [position.rows[one], position.rows[other]];
      svg.append(element("line", { x1: places[one], y1: y(from[TIME]), x2: places[other], y2: y(to[TIME]), class: "pair" }));
    }
    for (const place of position.marked) svg.append(element("circle", { cx: places[place], cy: y(position.rows[place][TIME]), r: 11, class: "marked" }));
    position.rows.forEach((row, place) => svg.append(glyph(data, row, places[place], y(row[TIME]))));
    return position.handles.map(([control, origin, sign, at]) => ({
      control, origin, sign, axis: "y",
      at: (value) => [typeof at === "number" ? left(at) : places[position.rows.findIndex((row) => row[KEY] === at)], y(origin + sign * value)],
      time: (x, top) => range.first + ((bottom - top) / (bottom - TOP)) * (range.last - range.first),
    }));
  };
  return { height, draw };
}

/** Rows of one side and micro-batch stand beside each other. */
function spread(rows, middle, column) {
  const seen = new Map();
  for (const row of rows) {
    const group = `${row[BATCH]} ${row[SIDE]}`;
    seen.set(group, [...(seen.get(group) ?? []), row]);
  }
  return rows.map((row) => {
    const group = seen.get(`${row[BATCH]} ${row[SIDE]}`);
    return middle(row) + (group.indexOf(row) - (group.length - 1) / 2) * Math.min(20, (column * 0.3) / group.length);
  });
}

/** Both sides as lanes on event time, windows and reach behind them. */
function lanes(data, range, frame) {
  const height = 270;
  const tops = [90, 190];
  const x = (time) => frame.left + 20 + ((time - range.first) / (range.last - range.first)) * (frame.width - frame.left - 50);
  const draw = (position, svg) => {
    for (const time of ticks(range)) {
      svg.append(element("line", { x1: x(time), x2: x(time), y1: 30, y2: 236, class: "grid" }));
      svg.append(element("text", { x: x(time), y: 254, class: "tick", "text-anchor": "middle" }, clock(time)));
    }
    const levels = []; // windows that overlap are drawn one within the other
    for (const [begin, end, lane] of position.spans) {
      let level = levels.findIndex((until) => until <= begin);
      if (level < 0) level = levels.push(0) - 1;
      levels[level] = end;
      const over = lane === 0.5;
      const top = over ? 36 + 7 * level : tops[lane] - 30;
      svg.append(element("rect", { x: x(begin) + 1, width: Math.max(1, x(end) - x(begin) - 2), y: top, height: over ? 198 - 14 * level : 60, rx: 4, class: over ? "window" : "reach" }));
    }
    data.sides.forEach((name, lane) => {
      svg.append(element("line", { x1: x(range.first), x2: x(range.last), y1: tops[lane], y2: tops[lane], class: "lane" }));
      svg.append(element("text", { x: frame.left + 8, y: tops[lane] + 4, class: `name side-${lane}`, "text-anchor": "end" }, name));
    });
    for (const [one, other] of position.pairs) {
      const [from, to] = [position.rows[one], position.rows[other]];
      svg.append(element("line", { x1: x(from[TIME]), y1: tops[0], x2: x(to[TIME]), y2: tops[1], class: "pair" }));
    }
    position.rows.forEach((row) => svg.append(glyph(data, row, x(row[TIME]), tops[row[SIDE]], row[SIDE] === 1)));
    return position.handles.map(([control, origin, sign, at]) => ({
      control, origin, sign, at: (value) => [x(origin + sign * value), tops[at] - 30], axis: "x",
      time: (left) => range.first + ((left - frame.left - 20) / (frame.width - frame.left - 50)) * (range.last - range.first),
    }));
  };
  return { height, draw };
}

/** Each row for as long as it is in state, and how many there are after each micro-batch. */
function lifetimes(data, range, frame) {
  const step = 19;
  const foot = TOP + range.rows * step + 10;
  const bars = 70;
  const height = foot + bars + BOTTOM;
  const column = (frame.width - frame.left - 30) / range.states;
  const x = (batch) => frame.left + (Math.min(batch, range.states) + 0.5) * column;
  const draw = (position, svg) => {
    for (let batch = 0; batch < range.states; batch++) {
      if (batch % 2 === 0) svg.append(element("rect", { x: x(batch) - column / 2, y: TOP - 8, width: column, height: foot + bars - TOP, class: "band" }));
      const text = batch < range.batches || frame.narrow ? String(batch) : `${batch}, no rows`;
      svg.append(element("text", { x: x(batch), y: foot + bars + 8, class: "tick", "text-anchor": "middle" }, text));
    }
    svg.append(element("text", { x: x(range.states / 2 - 0.5), y: foot + bars + 26, class: "title", "text-anchor": "middle" }, "micro-batch"));
    const places = position.rows.map((row, place) => place).sort((one, other) => position.rows[one][BATCH] - position.rows[other][BATCH] || position.rows[one][SIDE] - position.rows[other][SIDE]);
    places.forEach((place, order) => {
      const row = position.rows[place];
      const y = TOP + order * step;
      const until = Math.max(row[LEAVES], row[BATCH]);
      if (until > row[BATCH]) svg.append(element("rect", { x: x(row[BATCH]), y: y - 4, width: Math.min(x(until), frame.width - 22) - x(row[BATCH]), height: 8, rx: 4, class: `held side-${row[SIDE]}` }));
      const mark = glyph(data, row, x(row[BATCH]), y);
      mark.lastChild.setAttribute("x", -14);
      mark.lastChild.setAttribute("y", 4);
      svg.append(mark);
      if (row[OUT] >= 0 && data.fates[row[FATE]] === "unmatched") svg.append(element("text", { x: x(row[OUT]) + 6, y: y + 4, class: "null" }, "null"));
    });
    if (position.breaks !== null) {
      const at = x(position.breaks) - column / 2;
      svg.append(element("line", { x1: at, x2: at, y1: TOP - 14, y2: foot + bars - 8, class: "break" }));
      svg.append(element("text", { x: at, y: 10, class: "title", "text-anchor": "middle" }, "restart"));
    }
    svg.append(element("text", { x: 4, y: foot + 2, class: "title" }, "rows"));
    svg.append(element("text", { x: 4, y: foot + 15, class: "title" }, "in state"));
    position.state.forEach((count, batch) => {
      const tall = range.most ? (count / range.most) * (bars - 22) : 0;
      svg.append(element("rect", { x: x(batch) - column * 0.28, width: column * 0.56, y: foot + bars - 8 - tall, height: tall, class: "state" }));
      svg.append(element("text", { x: x(batch), y: foot + bars - 12 - tall, class: "tick", "text-anchor": "middle" }, String(count)));
    });
    return [];
  };
  return { height, draw };
}

const VIEWS = { arrival, lanes, lifetimes };

function explore(box) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const range = extent(data);
  const svg = box.querySelector("svg");
  let view;
  const at = data.controls.map((control) => {
    const input = inputs(control)[0];
    return input.type === "radio" ? inputs(control).findIndex((each) => each.checked) : Number(input.value);
  });

  function inputs(control) {
    return [...box.querySelectorAll(`[name="${control.name}"]`)];
  }

  function show() {
    let place = 0;
    data.controls.forEach((control, number) => (place = place * control.values.length + at[number]));
    const position = data.positions[place];
    svg.replaceChildren();
    const handles = view.draw(position, svg);
    handles.forEach(draggable);
    for (const text of document.querySelectorAll("[data-figure]")) text.textContent = position.figures[text.dataset.figure];
    data.controls.forEach((control, number) => {
      const shown = control.shown[at[number]];
      for (const text of document.querySelectorAll(`[data-control="${control.name}"]`)) text.textContent = shown;
      for (const text of document.querySelectorAll(`[data-code="${control.name}"]`)) text.textContent = control.code[at[number]];
      for (const input of inputs(control)) {
        if (input.type === "radio") input.checked = Number(input.value) === at[number];
        else {
          input.value = at[number];
          input.setAttribute("aria-valuetext", shown);
        }
      }
    });
    const lines = position.rows.map((row) => [data.sides[row[SIDE]], row[KEY], clock(row[TIME]), String(row[BATCH]), data.fates[row[FATE]], data.reasons[row[REASON]]]);
    box.querySelector("tbody").replaceChildren(...lines.map((cells) => {
      const line = document.createElement("tr");
      line.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return line;
    }));
  }

  function move(number, value) {
    if (at[number] === value) return;
    at[number] = value;
    show();
  }

  function draggable(handle) {
    const number = data.controls.findIndex((control) => control.name === handle.control);
    const values = data.controls[number].values;
    const [x, y] = handle.at(values[at[number]]);
    const grip = element("g", { transform: `translate(${x},${y})`, class: `grip grip-${handle.axis}` },
      element("circle", { r: 13, class: "grip-area" }),
      element("path", { d: handle.axis === "y" ? "M18,-3h10l-5,-7zM18,3h10l-5,7z" : "M-21,0l7,5v-10zM21,0l-7,5v-10z", class: "grip-arrows" }));
    grip.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      const moved = (to) => {
        const point = new DOMPoint(to.clientX, to.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const value = handle.sign * (handle.time(point.x, point.y) - handle.origin);
        const nearest = values.reduce((best, each, place) => (Math.abs(each - value) < Math.abs(values[best] - value) ? place : best), 0);
        move(number, nearest);
      };
      const end = () => {
        removeEventListener("pointermove", moved);
        removeEventListener("pointerup", end);
        removeEventListener("pointercancel", end);
      };
      addEventListener("pointermove", moved);
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
    });
    svg.append(grip);
  }

  function fit() {
    const frame = box.clientWidth < 560 ? NARROW : WIDE;
    view = VIEWS[data.view](data, range, frame);
    svg.setAttribute("viewBox", `0 0 ${frame.width} ${view.height}`);
    show();
  }

  data.controls.forEach((control, number) => {
    for (const input of inputs(control)) input.addEventListener("input", () => move(number, Number(input.value)));
  });
  addEventListener("resize", fit);
  fit();
}

const box = document.querySelector(".explore"); // a page has one at most, whose figures its text has
if (box) explore(box);

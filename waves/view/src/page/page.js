// State of the page, and its changes by keys and mouse.

const element = (id) => document.getElementById(id);
const scroller = element("view");
const rowsElement = element("rows");

/** What is shown: times of cursor and marker, the selected row, pixels of a range being chosen on the ruler. */
const state = { cursor: 0, marker: null, selected: null, range: null };
/** Rows from top to bottom. */
let rows = [];
let pending = false;

/** Draws what has changed since, once for the next frame. */
function change() {
  if (pending || !wave) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    render();
  });
}

function render() {
  draw(rows, scroller.scrollTop, state);
  renderRows();
  renderDetail();
}

/** Row elements: as many as are visible, used again for others while scrolling. */
function renderRows() {
  const top = scroller.scrollTop;
  const first = Math.floor(top / ROW);
  const count = Math.min(rows.length - first, Math.ceil((view.height - HEAD) / ROW) + 1);
  while (rowsElement.childElementCount < count) rowsElement.append(rowElement());
  while (rowsElement.childElementCount > Math.max(count, 0)) rowsElement.lastChild.remove();
  for (let at = 0; at < count; at++) {
    const row = rows[first + at];
    const here = rowsElement.children[at];
    const [name, value] = here.children;
    const searched = element("search").value.trim() !== "";
    here.row = row;
    here.className = `row${row.of ? "" : " group"}${differsAt(row.of, state.cursor) ? " differs" : ""}`;
    here.style.top = `${(first + at) * ROW - top}px`;
    here.setAttribute("aria-selected", row === state.selected);
    here.setAttribute("aria-level", row.depth + 1);
    if (row.foldable) here.setAttribute("aria-expanded", row.open);
    else here.removeAttribute("aria-expanded");
    name.style.paddingLeft = `${0.5 + (searched ? 0 : row.depth * 0.8)}rem`;
    name.firstChild.textContent = row.foldable && !searched ? (row.open ? "▾" : "▸") : "";
    name.lastChild.textContent = searched ? row.of.path : row.label;
    name.title = row.of?.path ?? "";
    value.textContent = valueText(row);
  }
}

function rowElement() {
  const row = document.createElement("div");
  row.setAttribute("role", "treeitem");
  for (const name of ["name", "value"]) {
    const cell = document.createElement("span");
    cell.className = name;
    row.append(cell);
  }
  row.firstChild.append(document.createElement("i"), document.createElement("span"));
  return row;
}

function differsAt(of, time) {
  if (of?.flagsDifference) return text(of, of.at(time)) === "1";
  if (!of) return false;
  const span = of.spans[spanAfter(of.spans, time)];
  return span !== undefined && span[0] <= time;
}

/** The value of a row at the cursor, or how many signals a group has. */
function valueText({ of, children, open }) {
  if (!of) return open ? "" : `${children.length}`;
  if (of instanceof Pair) {
    const [left, right] = [of.left, of.right].map((side) => text(side, side.at(state.cursor)));
    return differsAt(of, state.cursor) ? `${left} ≠ ${right}` : left;
  }
  return text(of, of.at(state.cursor));
}

/** Below: the selected signal in full, and what the bars of the page say of cursor and marker. */
function renderDetail() {
  const cycle = element("cycle");
  if (document.activeElement !== cycle) cycle.value = Math.floor(counted(state.cursor));
  element("at").textContent = "at cursor";
  const distance = state.marker === null ? null : state.cursor - state.marker;
  element("distance").textContent =
    distance === null ? duration(state.cursor + wave.start / wave.step)
    : `${duration(state.cursor + wave.start / wave.step)}, ${distance < 0 ? "−" : "+"}${Math.abs(distance / wave.cycle).toLocaleString("en")} ${wave.period ? "cycles" : "steps"} from the marker (${duration(Math.abs(distance))})`;
  const detail = element("detail");
  detail.replaceChildren();
  const of = state.selected?.of;
  element("radix").disabled = of?.kind !== "bits";
  element("earlier").disabled = element("later").disabled = !of;
  if (!of) return;
  element("radix").value = of.radix;
  const say = (tag, words, className = "") => {
    const part = document.createElement(tag);
    part.textContent = words;
    part.className = className;
    detail.append(part, " ");
    return part;
  };
  say("strong", of.path);
  if (of.kind === "bits") say("span", `${of.width} bit${of.width === 1 ? "" : "s"}`, "when");
  const number = of.last(state.cursor);
  if (number >= 0) {
    const from = of.times[number], to = of.times[number + 1] ?? wave.steps;
    const [first, end] = [Math.floor(counted(from)), Math.ceil(counted(to)) - 1];
    say("span", end > first ? `${wave.period ? "cycles " : ""}${first} to ${end}` : `${wave.period ? "cycle " : ""}${first}`, "when");
  }
  detail.append(document.createElement("br"));
  for (const side of state.selected.signals()) {
    const index = side.at(state.cursor);
    if (index === undefined) continue;
    const differs = differsAt(of, state.cursor) ? "differs" : "";
    if (of instanceof Pair) say("span", side.scopes.find((name) => wave.sides.includes(name)), "when");
    const radixes = side.kind === "bits" && side.width > 1 ? RADIXES.filter((radix) => radix !== "bin" || side.width <= 64) : ["hex"];
    for (const radix of radixes) {
      const prefix = side.kind !== "bits" || side.width === 1 ? "" : `${radix} `;
      const code = say("code", prefix + text(side, index, radix), differs);
      const source = radix === "hex" && sourceLine(side, state.cursor);
      if (source) {
        const link = document.createElement("a");
        link.href = "#source";
        link.textContent = `line ${source.line}`;
        link.onclick = (event) => {
          event.preventDefault();
          showSource(source);
        };
        code.after(" ", link);
      }
    }
  }
}

/** A text of the page at a line. */
function showSource({ file, text: content, line }) {
  const dialog = element("source");
  dialog.querySelector("h2").textContent = `${file}, line ${line}`;
  const spans = content.split("\n").map((words, at) => {
    const span = document.createElement("span");
    span.textContent = words;
    span.dataset.line = at + 1;
    if (at + 1 === line) span.className = "here";
    return span;
  });
  dialog.querySelector("pre").replaceChildren(...spans);
  dialog.showModal();
  dialog.querySelector(".here")?.scrollIntoView({ block: "center" });
}

/** Lists the rows anew, after folding or searching. */
function list() {
  rows = visibleRows(element("search").value);
  element("sheet").style.height = `${HEAD + rows.length * ROW}px`;
  element("stage").style.height = `${scroller.clientHeight}px`;
  change();
}

// Visible part of the wave: zoom and position.

const LEAST = () => wave.cycle / 400;
const MOST = () => Math.max(wave.steps / Math.max(view.width - 24, 1), LEAST());

/** Keeps the view near the window. */
function look(from, perPixel = view.perPixel) {
  view.perPixel = Math.min(Math.max(perPixel, LEAST()), MOST());
  const room = view.width * view.perPixel;
  view.from = Math.min(Math.max(from, -8 * view.perPixel), Math.max(wave.steps + 16 * view.perPixel - room, -8 * view.perPixel));
  change();
}

/** Zooms; the time at `x` stays where it is. */
function zoom(factor, x) {
  const time = timeAt(x);
  const perPixel = Math.min(Math.max(view.perPixel * factor, LEAST()), MOST());
  look(time - x * perPixel, perPixel);
}

const fit = () => look(0, MOST());
const middle = () => look(state.cursor - (view.width / 2) * view.perPixel);

/** Zooms where the cursor is, or into the middle where it cannot be seen. */
function zoomAtCursor(factor) {
  const x = xOf(state.cursor);
  zoom(factor, x >= 0 && x <= view.width ? x : view.width / 2);
}

/** The start of the cycle that a time is in, inside the window. */
function snapped(time) {
  const count = Math.floor(counted(time) + 1e-9);
  return Math.min(Math.max(timeOf(count), 0), Math.max(wave.steps - 1, 0));
}

/** Sets the cursor and brings it into view. */
function goTo(time) {
  state.cursor = snapped(time);
  const x = xOf(state.cursor);
  if (x < 0 || x > view.width - 20) middle();
  change();
}

function byCycles(count) {
  goTo(state.cursor + count * (wave.period ? wave.cycle : 1));
}

function setMarker(time) {
  state.marker = time;
  change();
}

/** To the change of the selected signal after the cursor's cycle, or before it. */
function toChange(direction) {
  const of = state.selected?.of;
  if (!of) return;
  // Forwards, skip the changes within the cycle of the cursor.
  const time = direction > 0 ? state.cursor + wave.cycle - 1e-9 : state.cursor - 1e-9;
  const number = of.last(time) + (direction > 0 ? 1 : 0);
  // For a pair, `last` merges the changes of both sides, so check the index.
  if (number >= 0 && number < of.times.length) goTo(of.times[number]);
}

/** To the first cycle of the difference after or before the cursor's. */
function toDifference(direction) {
  const spans = wave.differences;
  let number = 0;
  if (direction > 0) {
    while (number < spans.length && snapped(spans[number][0]) <= state.cursor) number++;
  } else {
    number = spans.length - 1;
    while (number >= 0 && snapped(spans[number][0]) >= state.cursor) number--;
  }
  if (spans[number]) goTo(spans[number][0]);
}

// Rows of the list of signals.

function select(row) {
  state.selected = row;
  const top = rows.indexOf(row) * ROW;
  const height = view.height - HEAD;
  if (top >= 0 && top < scroller.scrollTop) scroller.scrollTop = top;
  if (top + ROW > scroller.scrollTop + height) scroller.scrollTop = top + ROW - height;
  change();
}

function selectNext(by) {
  if (rows.length === 0) return;
  const at = rows.indexOf(state.selected);
  select(rows[Math.min(Math.max(at + by, 0), rows.length - 1)]);
}

function fold(row) {
  if (!row?.foldable) return;
  row.open = !row.open;
  list();
}

/** What Enter does: folds, or shows the line that the transaction at the cursor names. */
function activate(row) {
  if (row?.foldable) return fold(row);
  const source = row?.of?.kind === "track" && sourceLine(row.of, state.cursor);
  if (source) showSource(source);
}

function setRadix(radix) {
  state.selected?.signals().forEach((signal) => (signal.radix = radix));
  change();
}

function nextRadix() {
  const of = state.selected?.of;
  if (of?.kind === "bits") setRadix(RADIXES[(RADIXES.indexOf(of.radix) + 1) % RADIXES.length]);
}

/** Ends a search; the row stays, in its place. */
function endSearch(row) {
  const search = element("search");
  search.value = "";
  search.blur();
  if (row) reveal(row);
  list();
  if (row) select(row);
}

function wire() {
  scroller.addEventListener("scroll", change);
  new ResizeObserver(() => {
    element("stage").style.height = `${scroller.clientHeight}px`;
    resize();
    look(view.from);
    render();
  }).observe(scroller);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    change();
  });
  for (const event of ["beforeprint", "afterprint"]) {
    addEventListener(event, () => {
      readColours();
      render();
    });
  }

  rowsElement.addEventListener("click", ({ target }) => {
    const row = target.closest(".row")?.row;
    if (!row) return;
    if (target.matches("i") || !row.of) fold(row);
    select(row);
    scroller.focus({ preventScroll: true });
  });
  rowsElement.addEventListener("dblclick", ({ target }) => {
    const row = target.closest(".row")?.row;
    if (row?.of) fold(row);
  });

  const clicks = {
    in: () => zoomAtCursor(0.5),
    out: () => zoomAtCursor(2),
    fit,
    earlier: () => toChange(-1),
    later: () => toChange(1),
    before: () => toDifference(-1),
    after: () => toDifference(1),
    mark: () => setMarker(state.cursor),
    help: () => element("keys").showModal(),
  };
  for (const [id, action] of Object.entries(clicks)) element(id).addEventListener("click", action);
  element("radix").addEventListener("change", ({ target }) => setRadix(target.value));
  element("search").addEventListener("input", () => {
    scroller.scrollTop = 0;
    list();
  });
  element("search").addEventListener("keydown", ({ key }) => {
    if (key === "Enter") endSearch(rows.find((row) => row.of));
    if (key === "Escape") endSearch(state.selected);
  });
  const cycle = element("cycle");
  const toCycle = () => {
    const count = Number(cycle.value.replaceAll(",", ""));
    if (cycle.value.trim() !== "" && Number.isFinite(count)) goTo(timeOf(count));
  };
  cycle.addEventListener("focus", () => cycle.select());
  cycle.addEventListener("change", toCycle);
  cycle.addEventListener("keydown", ({ key }) => {
    if (key === "Enter" || key === "Escape") cycle.blur();
  });
  cycle.addEventListener("blur", change);
  addEventListener("keydown", press);
  wireDivider();
  wirePointer();
  canvas.addEventListener("wheel", wheel, { passive: false });
}

function press(event) {
  if (event.target.matches("input, select") || document.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // These keys press a focused button or link.
  if (event.target.matches("button, a") && (event.key === "Enter" || event.key === " ")) return;
  const page = (view.width * view.perPixel) / 2;
  const keys = {
    ArrowLeft: () => byCycles(event.shiftKey ? -10 : -1),
    ArrowRight: () => byCycles(event.shiftKey ? 10 : 1),
    Home: () => goTo(0),
    End: () => goTo(wave.steps - 1),
    ArrowUp: () => selectNext(-1),
    ArrowDown: () => selectNext(1),
    PageUp: () => selectNext(-Math.floor((view.height - HEAD) / ROW)),
    PageDown: () => selectNext(Math.floor((view.height - HEAD) / ROW)),
    Enter: () => activate(state.selected),
    " ": () => activate(state.selected),
    n: () => toChange(1),
    p: () => toChange(-1),
    d: () => toDifference(1),
    D: () => toDifference(-1),
    "+": () => zoomAtCursor(0.5),
    "=": () => zoomAtCursor(0.5),
    "-": () => zoomAtCursor(2),
    f: fit,
    ",": () => look(view.from - page),
    ".": () => look(view.from + page),
    c: middle,
    m: () => setMarker(state.cursor),
    M: () => setMarker(null),
    x: nextRadix,
    "/": () => element("search").focus(),
    g: () => element("cycle").focus(),
    "?": () => element("keys").showModal(),
  };
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function wheel(event) {
  const { deltaX, deltaY, offsetX, offsetY } = event;
  event.preventDefault();
  // Some browsers report the wheel in lines instead of pixels.
  const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
  if (event.ctrlKey || event.altKey || event.metaKey || offsetY < HEAD) {
    zoom(2 ** (((deltaY || deltaX) * pixels) / 240), offsetX);
  } else if (event.shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) {
    look(view.from + (deltaX || deltaY) * pixels * view.perPixel);
  } else {
    scroller.scrollTop += deltaY * pixels;
  }
}

/** Clicks and drags on the canvas. */
function wirePointer() {
  let down = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { offsetX: x, offsetY: y } = event;
    down = { x, y, from: view.from, moved: false, area: y < STRIP ? "strip" : y < HEAD ? "ruler" : "waves" };
    canvas.setPointerCapture(event.pointerId);
    if (down.area === "strip") lookFromStrip(x);
  });
  canvas.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
    if (!down) return;
    down.moved ||= Math.hypot(x - down.x, y - down.y) > 3;
    if (!down.moved) return;
    if (down.area === "strip") lookFromStrip(x);
    else if (down.area === "waves") look(down.from - (x - down.x) * view.perPixel);
    else {
      state.range = [down.x, x];
      change();
    }
  });
  canvas.addEventListener("pointerup", ({ offsetX: x, offsetY: y, shiftKey }) => {
    if (!down) return;
    if (state.range) {
      const [from, to] = state.range.map(timeAt).sort((a, b) => a - b);
      look(from, (to - from) / view.width);
    } else if (!down.moved && down.area !== "strip") {
      if (shiftKey) setMarker(snapped(timeAt(x)));
      else state.cursor = snapped(timeAt(x));
      const row = rows[Math.floor((y - HEAD + scroller.scrollTop) / ROW)];
      if (down.area === "waves" && row) select(row);
      scroller.focus({ preventScroll: true });
    }
    state.range = down = null;
    change();
  });
  canvas.addEventListener("pointercancel", () => {
    state.range = down = null;
    change();
  });
}

function lookFromStrip(x) {
  look((x / view.width) * wave.steps - (view.width / 2) * view.perPixel);
}

function wireDivider() {
  const divider = element("divider");
  divider.addEventListener("pointerdown", (event) => divider.setPointerCapture(event.pointerId));
  divider.addEventListener("pointermove", (event) => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const width = Math.min(Math.max(event.clientX, 80), innerWidth - 120);
    document.documentElement.style.setProperty("--names", `${width}px`);
    resize();
    look(view.from);
  });
}

/** Fills the head of the page, and opens at the cursor that the view asks for, or shows all. */
function begin() {
  element("title").textContent = wave.title;
  const cycles = wave.steps / wave.cycle;
  const from = Math.floor(counted(0)).toLocaleString("en"), to = (Math.ceil(counted(wave.steps)) - 1).toLocaleString("en");
  const unit = wave.period ? "cycles" : "times";
  element("facts").textContent = `${unit} ${from} to ${to}, ${wave.signals.length} signals`;
  const { length } = wave.differences;
  element("differing").textContent = length === 1 ? "1 difference" : `${length.toLocaleString("en")} differences`;
  element("differences").hidden = wave.pairs.length === 0;
  element("before").disabled = element("after").disabled = length === 0;
  readColours();
  buildRows();
  list();
  resize();
  wire();
  if (wave.marker === null) {
    fit();
    if (cycles * 4 > view.width) look(0, wave.cycle / 4);
  } else {
    state.cursor = snapped((wave.marker - wave.start) / wave.step);
    const before = Math.min(8 * READABLE, view.width * 0.6);
    look(state.cursor - (before / READABLE) * wave.cycle, wave.cycle / READABLE);
  }
  state.selected = rows.find((row) => row.of) ?? null;
  scroller.focus({ preventScroll: true });
  render();
}

const started = unpack().then(begin, (error) => {
  element("facts").textContent = `The wave cannot be unpacked: ${error.message}. A browser of 2023 or later can.`;
});

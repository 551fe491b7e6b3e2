// Draws the canvas: overview strip of the whole window, ruler, waves. Draws only the visible part.

const ROW = 22, STRIP = 12, HEAD = 40;
/** A value of fewer pixels is no more than a part of a block. */
const VISIBLE = 3;
/** A cycle of this many pixels is wide enough for eight digits. */
const READABLE = 72;

const canvas = document.getElementById("waves");
const context = canvas.getContext("2d", { alpha: false });

/** What is visible: its first time, steps per pixel, size in pixels. */
const view = { from: 0, perPixel: 1, width: 0, height: 0 };
/** Colours, read from the style where the theme changes. */
let colour = {};
/** Pixels of a character of values. */
let character = 7;

const VALUES = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  colour = Object.fromEntries(
    ["ground", "raised", "line", "ink", "soft", "link", "bad", "bad-ground", "selected", "wave", "wave-ground", "number", "cursor", "marker", "unknown", "track-ground", "track-edge"].map((name) => [name, of(name)]),
  );
}

function resize() {
  const stage = document.getElementById("stage");
  const left = canvas.offsetLeft;
  view.width = Math.max(stage.clientWidth - left, 50);
  view.height = stage.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${view.height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = VALUES;
  character = context.measureText("0").width;
}

const xOf = (time) => (time - view.from) / view.perPixel;
const timeAt = (x) => view.from + x * view.perPixel;

/**
 * Visits what is visible of a signal from left to right: `plain(from, to, number)` for a value that is wide
 * enough to be seen, `dense(from, to)` for a run of narrower ones. Work is in proportion to pixels, for
 * any number of changes.
 */
function visit(signal, plain, dense) {
  const { times } = signal;
  const count = times.length;
  let i = Math.max(signal.last(view.from), 0);
  while (i < count) {
    let from = xOf(times[i]);
    if (from >= view.width) return;
    const to = (number) => xOf(number + 1 < count ? times[number + 1] : wave.steps);
    if (to(i) - from >= VISIBLE || i + 1 === count) {
      plain(Math.max(from, -8), Math.min(to(i), view.width + 8), i);
      i++;
      continue;
    }
    from = Math.max(from, 0);
    let end = from;
    while (i + 1 < count && end < view.width && to(i) - xOf(times[i]) < VISIBLE) {
      end = Math.max(end + 1, xOf(times[i + 1]));
      // Try the next change before a search: most runs of hidden changes are short.
      let next = i + 1;
      if (next + 1 < count && xOf(times[next + 1]) <= end) next = Math.max(signal.last(timeAt(end)), next);
      i = next;
    }
    dense(from, Math.max(end, from + 1));
    if (end >= view.width) return;
  }
}

/** The first of spans in order that ends after a time. */
function spanAfter(spans, time) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][1] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fills what is visible of spans in order, those on one pixel once; `x` gives pixels of times, `time` the reverse. */
function fillSpans(spans, x, time, y, height) {
  for (let i = spanAfter(spans, time(0)); i < spans.length; ) {
    const from = Math.max(x(spans[i][0]), 0);
    if (from > view.width) return;
    const to = Math.max(x(spans[i][1]), from + 1);
    context.fillRect(from, y, Math.min(to, view.width) - from, height);
    i++;
    if (i < spans.length && x(spans[i][1]) <= to) i = Math.max(spanAfter(spans, time(to)), i);
  }
}

/** Draws everything: `rows` from `top` pixels down; `state` has cursor, marker, selected row, chosen range. */
function draw(rows, top, state) {
  context.fillStyle = colour.ground;
  context.fillRect(0, 0, view.width, view.height);
  const first = Math.floor(top / ROW);
  const last = Math.min(rows.length, Math.ceil((top + view.height - HEAD) / ROW));
  const cycleWidth = wave.cycle / view.perPixel;
  // Draw the cycle of the cursor before the waves, so that the waves cover it.
  if (cycleWidth >= 3) {
    context.fillStyle = colour.selected;
    context.fillRect(xOf(state.cursor), HEAD, cycleWidth, view.height);
  }
  drawGrid();
  for (let at = first; at < last; at++) {
    const row = rows[at];
    const y = HEAD + at * ROW - top;
    if (row === state.selected) {
      context.fillStyle = colour.selected;
      context.fillRect(0, y, view.width, ROW);
    }
    drawRow(row, y);
  }
  context.fillStyle = colour.ground;
  context.fillRect(0, 0, view.width, HEAD);
  drawStrip(state);
  drawRuler();
  drawLine(state.cursor, colour.cursor, []);
  if (state.marker !== null) drawLine(state.marker, colour.marker, [4, 3]);
  if (state.range) {
    context.fillStyle = colour.cursor;
    context.globalAlpha = 0.18;
    context.fillRect(Math.min(...state.range), STRIP, Math.abs(state.range[1] - state.range[0]), view.height);
    context.globalAlpha = 1;
  }
}

/** Distance of lines of the ruler, as it counts: 1, 2 or 5 of a power of ten. */
function ruled() {
  const unit = wave.period ? wave.cycle : 1 / wave.step;
  const least = (90 * view.perPixel) / unit;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
  return Math.max(step, 1);
}

function* ticks() {
  const step = ruled();
  for (let count = Math.ceil(counted(view.from) / step) * step; ; count += step) {
    const x = xOf(timeOf(count));
    if (x > view.width) return;
    // `|| 0` replaces -0 by 0.
    yield [x, count || 0];
  }
}

function drawGrid() {
  context.fillStyle = colour.line;
  context.globalAlpha = 0.55;
  for (const [x] of ticks()) context.fillRect(Math.round(x), HEAD, 1, view.height);
  context.globalAlpha = 1;
}

function drawRuler() {
  context.font = VALUES;
  context.textBaseline = "middle";
  context.fillStyle = colour.line;
  context.fillRect(0, HEAD - 1, view.width, 1);
  for (const [x, count] of ticks()) {
    context.fillStyle = colour.line;
    context.fillRect(Math.round(x), HEAD - 9, 1, 8);
    context.fillStyle = colour.soft;
    context.fillText(count.toLocaleString("en"), Math.round(x) + 4, HEAD - 12);
  }
}

/** The whole window: where sides differ, and which part is visible. */
function drawStrip(state) {
  const x = (time) => (time / wave.steps) * view.width;
  context.fillStyle = colour.raised;
  context.fillRect(0, 0, view.width, STRIP);
  context.fillStyle = colour.line;
  const from = x(Math.max(view.from, 0));
  context.fillRect(from, 0, Math.max(x(view.perPixel * view.width), 4), STRIP);
  context.fillStyle = colour.bad;
  fillSpans(wave.differences, x, (x) => (x / view.width) * wave.steps, 3, STRIP - 6);
  context.fillStyle = colour.cursor;
  context.fillRect(x(state.cursor), 0, 1, STRIP);
  if (state.marker !== null) {
    context.fillStyle = colour.marker;
    context.fillRect(x(state.marker), 0, 1, STRIP);
  }
}

function drawLine(time, stroke, dashes) {
  const x = Math.round(xOf(time)) + 0.5;
  if (x < 0 || x > view.width) return;
  context.strokeStyle = stroke;
  context.setLineDash(dashes);
  context.beginPath();
  context.moveTo(x, STRIP);
  context.lineTo(x, view.height);
  context.stroke();
  context.setLineDash([]);
}

function drawRow(row, y) {
  const { of } = row;
  if (!of) {
    drawGroup(row, y);
    return;
  }
  context.fillStyle = colour["bad-ground"];
  fillSpans(of.spans, xOf, timeAt, y, ROW);
  if (of instanceof Pair) of.merge();
  switch (of.kind) {
    case "track": return drawTrack(of, y);
    case "event": return drawEvent(of, y);
    case "bits": return of.width === 1 ? drawBit(of, y) : drawValues(of, y);
    default: return drawValues(of, y);
  }
}

/** A folded group shows where any of its pairs differ. */
function drawGroup(row, y) {
  if (row.open) return;
  row.spans ??= union(spansBelow(row));
  context.fillStyle = colour.bad;
  fillSpans(row.spans, xOf, timeAt, y + ROW / 2 - 1, 3);
}

function spansBelow(row) {
  const own = row.of instanceof Pair ? [row.of.spans.map((span) => [...span])] : [];
  return [...own, ...row.children.flatMap(spansBelow)];
}

function drawBit(signal, y) {
  const high = y + 4.5, low = y + ROW - 4.5;
  const stroke = signal.flagsDifference ? colour.bad : colour.wave;
  const levelOf = (index) => (wave.values[index] === "1" ? high : low);
  const path = new Path2D(), other = new Path2D(), fill = new Path2D(), blocks = new Path2D(), unknowns = new Path2D();
  let before = null;
  let otherBefore = null;
  visit(
    signal,
    (from, to, i) => {
      const index = signal.values[i];
      if (index === undefined || unknown(signal, index)) {
        if (index !== undefined) unknowns.rect(from, high, to - from, low - high);
        before = null;
      } else {
        const level = levelOf(index);
        if (before === null) path.moveTo(from, level);
        else if (before !== level) path.lineTo(from, before), path.lineTo(from, level);
        path.lineTo(to, level);
        if (level === high) fill.rect(from, high, to - from, low - high);
        before = level;
      }
      // Draw the value of the other side, if it differs.
      if (signal.others && signal.others[i] !== index && signal.others[i] !== undefined) {
        const level = levelOf(signal.others[i]);
        other.moveTo(from, otherBefore ?? level);
        other.lineTo(from, level);
        other.lineTo(to, level);
        otherBefore = level;
      } else otherBefore = null;
    },
    (from, to) => {
      blocks.rect(from, high, to - from, low - high);
      before = null;
    },
  );
  context.fillStyle = signal.flagsDifference ? colour["bad-ground"] : colour["wave-ground"];
  context.fill(fill);
  context.fillStyle = stroke;
  context.globalAlpha = 0.45;
  context.fill(blocks);
  context.fillStyle = colour.unknown;
  context.fill(unknowns);
  context.globalAlpha = 1;
  context.strokeStyle = stroke;
  context.stroke(path);
  context.strokeStyle = colour.bad;
  context.setLineDash([3, 2]);
  context.stroke(other);
  context.setLineDash([]);
}

function drawValues(signal, y) {
  const top = y + 3.5, bottom = y + ROW - 3.5, middle = y + ROW / 2;
  const rails = new Path2D(), blocks = new Path2D(), unknowns = new Path2D();
  const labels = [];
  visit(
    signal,
    (from, to, i) => {
      const index = signal.values[i];
      const other = signal.others ? signal.others[i] : index;
      if (index === undefined) return;
      const slope = Math.min(3, (to - from) / 2);
      rails.moveTo(from, middle);
      rails.lineTo(from + slope, top);
      rails.lineTo(to - slope, top);
      rails.lineTo(to, middle);
      rails.lineTo(to - slope, bottom);
      rails.lineTo(from + slope, bottom);
      rails.lineTo(from, middle);
      if (unknown(signal, index)) unknowns.rect(from, top, to - from, bottom - top);
      const left = Math.max(from, 0) + 5;
      const room = Math.floor((Math.min(to, view.width) - left - 3) / character);
      if (room < 1) return;
      const value = text(signal, index);
      const differs = other !== index && other !== undefined;
      const label = differs ? `${value} ≠ ${text(signal, other)}` : value;
      // If a value does not fit, show that digits are missing.
      const fits = label.length <= room ? label : room > 2 ? `${label.slice(0, room - 1)}…` : room > 1 ? "…" : "";
      if (fits) labels.push([fits, left, differs]);
    },
    (from, to) => blocks.rect(from, top, to - from, bottom - top),
  );
  context.strokeStyle = colour.number;
  context.stroke(rails);
  context.fillStyle = colour.number;
  context.globalAlpha = 0.45;
  context.fill(blocks);
  context.globalAlpha = 0.25;
  context.fillStyle = colour.unknown;
  context.fill(unknowns);
  context.globalAlpha = 1;
  context.font = VALUES;
  context.textBaseline = "middle";
  for (const [label, x, differs] of labels) {
    context.fillStyle = differs ? colour.bad : colour.ink;
    context.fillText(label, x, middle + 1);
  }
}

/** Transactions: a bar for each, in the colour of its request. */
function drawTrack(signal, y) {
  const top = y + 2, height = ROW - 4;
  const labels = [];
  const blocks = new Path2D();
  visit(
    signal,
    (from, to, i) => {
      const index = signal.values[i];
      const value = text(signal, index);
      if (!value) return;
      const angle = hue(signal, index, signal.times[i]);
      context.fillStyle = `hsl(${angle} 45% ${colour["track-edge"]})`;
      context.fillRect(from, top, Math.min(to - from - 1, 2), height);
      // A bar this narrow has room only for its edge.
      if (to - from < 6) return;
      context.fillStyle = `hsl(${angle} 55% ${colour["track-ground"]})`;
      context.fillRect(from + 2, top, to - from - 3, height);
      const left = Math.max(from, 0) + 5;
      const room = Math.floor((Math.min(to, view.width) - left - 2) / character);
      if (room >= 2) labels.push([value.length <= room ? value : `${value.slice(0, room - 1)}…`, left]);
    },
    (from, to) => blocks.rect(from, top, to - from, height),
  );
  context.fillStyle = colour.soft;
  context.globalAlpha = 0.4;
  context.fill(blocks);
  context.globalAlpha = 1;
  context.font = VALUES;
  context.textBaseline = "middle";
  context.fillStyle = colour.ink;
  for (const [label, x] of labels) context.fillText(label, x, y + ROW / 2 + 1);
}

function drawEvent(signal, y) {
  context.fillStyle = colour.wave;
  const mark = (from) => context.fillRect(from, y + 4, 1.5, ROW - 8);
  visit(signal, mark, (from, to) => context.fillRect(from, y + 4, to - from, ROW - 8));
}

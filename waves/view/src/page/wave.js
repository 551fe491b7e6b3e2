// Unpacks the wave of this page (`packed.rs` describes the format).
//
// Times are steps from the start of the window. `wave.step` is the number of time units per step.

/** A signal and its changes: times, and indices into the table of values. */
class Signal {
  constructor(head, times, values) {
    Object.assign(this, head);
    this.times = times;
    this.values = values;
    this.path = [...head.scopes, head.name].join(".");
    this.radix = "hex";
    this.flagsDifference = head.scopes.includes(wave.difference);
    /** From when to when it differs from the other side. */
    this.spans = [];
  }

  /** Number of the last change at or before a time; -1 before the first. */
  last(time) {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Index of its value at a time; undefined before the first. */
  at(time) {
    return this.values[this.last(time)];
  }
}

/** Both sides of one thing: changes are those of either, with the values of both. */
class Pair {
  constructor(left, right, flag) {
    Object.assign(this, { left, right, flag, kind: left.kind, width: left.width });
    this.name = left.name;
    this.path = left.path;
    this.spans = differences(left, right);
    left.spans = right.spans = this.spans;
    if (this.spans.length === 0) {
      Object.assign(this, { times: left.times, values: left.values, others: left.values });
    }
  }

  get radix() {
    return this.left.radix;
  }

  /** Merges the changes of the sides. Only pairs that differ and are drawn need it. */
  merge() {
    if (this.times) return;
    const times = [], values = [], others = [];
    for (const [time, value, other] of both(this.left, this.right)) {
      times.push(time);
      values.push(value);
      others.push(other);
    }
    Object.assign(this, { times, values, others });
  }

  last(time) {
    this.merge();
    return Signal.prototype.last.call(this, time);
  }
}

/** Time and both values wherever one changes. */
function* both(left, right) {
  let i = 0, j = 0;
  while (i < left.times.length || j < right.times.length) {
    const time = Math.min(left.times[i] ?? Infinity, right.times[j] ?? Infinity);
    while (left.times[i] === time) i++;
    while (right.times[j] === time) j++;
    yield [time, left.values[i - 1], right.values[j - 1]];
  }
}

/** From when to when two signals differ: [from, to] in order. A side without a value does not. */
function differences(left, right) {
  const spans = [];
  if (left.times === right.times) return spans;
  let from = -1;
  for (const [time, value, other] of both(left, right)) {
    const differs = value !== other && value !== undefined && other !== undefined;
    if (differs && from < 0) from = time;
    if (!differs && from >= 0) {
      spans.push([from, time]);
      from = -1;
    }
  }
  if (from >= 0) spans.push([from, wave.steps]);
  return spans;
}

/** One list of spans of several, each in order. */
function union(lists) {
  const all = lists.flat().sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [from, to] of all) {
    const last = joined[joined.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** The bytes behind the text in the page. */
async function inflate(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What is shown; filled by `unpack`. */
let wave = null;

async function unpack() {
  const element = document.getElementById("packed");
  const bytes = await inflate(element.textContent);
  element.remove();
  const length = new DataView(bytes.buffer).getUint32(0, true);
  wave = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  const number = () => {
    let value = 0, factor = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 0x7f) * factor;
      factor *= 128;
    } while (byte & 0x80);
    return value;
  };
  const Times = wave.steps < 2 ** 32 ? Uint32Array : Float64Array;
  const signals = [];
  for (const head of wave.signals) {
    const same = signals[head.same];
    let times = same?.times, values = same?.values;
    if (!same) {
      times = new Times(head.changes);
      values = new Uint32Array(head.changes);
      for (let i = 0, time = 0; i < head.changes; i++) times[i] = time += number();
      for (let i = 0; i < head.changes; i++) values[i] = number();
    }
    signals.push(new Signal(head, times, values));
  }
  wave.signals = signals;
  for (const { track } of signals.filter((signal) => signal.track)) {
    Object.assign(track, { request: signals[track.request], line: signals[track.line] });
  }
  wave.pairs = wave.pairs.map(([left, right, flag]) => new Pair(signals[left], signals[right], signals[flag]));
  wave.differences = union(wave.pairs.map((pair) => pair.spans.map((span) => [...span])));
  // Steps per cycle; 1 without a clock.
  wave.cycle = wave.period ? wave.period / wave.step : 1;
  wave.firstCycle = wave.period ? wave.start / wave.period : wave.start / wave.step;
}

/** A time as the ruler counts it: cycles, or time units without a clock. */
function counted(time) {
  return wave.period ? wave.firstCycle + time / wave.cycle : wave.start + time * wave.step;
}

/** The time of what the ruler counts. */
function timeOf(count) {
  return wave.period ? (count - wave.firstCycle) * wave.cycle : (count - wave.start) / wave.step;
}

/** `412.5 ns` of a number of time units, such as `1 ns`. */
function duration(steps) {
  const [, factor, unit] = /^(\d+)?\s*(\S*)$/.exec(wave.unit) ?? [, 1, wave.unit];
  return `${(steps * wave.step * Number(factor ?? 1)).toLocaleString("en")} ${unit}`;
}

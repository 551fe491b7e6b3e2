// Formats values for display.

const RADIXES = ["hex", "dec", "signed", "bin"];

/** Texts of numbers by radix and width, then by index. */
const shown = new Map();

/** The value with this index in the table, of a signal or pair. In tracks `_` is a space, but not in `EXPECT_TX`. */
function text(signal, index, radix = signal.radix) {
  if (index === undefined) return "";
  const value = wave.values[index];
  if (signal.kind === "track") return value === "-" ? "" : value.replace(/(?<![A-Z])_|_(?![A-Z])/g, " ");
  if (signal.kind !== "bits") return value;
  const key = `${radix} ${signal.width}`;
  let known = shown.get(key);
  if (!known) shown.set(key, (known = new Map()));
  let answer = known.get(index);
  if (answer === undefined) known.set(index, (answer = numberText(value, signal.width, radix)));
  return answer;
}

function numberText(value, width, radix) {
  if (value.startsWith("?")) {
    if (radix === "bin" || width < 5) return value.slice(1);
    if (radix !== "hex") return "x";
    const digits = value.slice(1).padStart(Math.ceil(width / 4) * 4, "0");
    return digits.replace(/..../g, (four) => (/^[01]*$/.test(four) ? parseInt(four, 2).toString(16) : /^z*$/.test(four) ? "z" : "x"));
  }
  const number = BigInt("0x" + value);
  switch (radix) {
    case "dec": return number.toString();
    case "signed": return BigInt.asIntN(width, number).toString();
    case "bin": return number.toString(2).padStart(width, "0");
    // Leading zeros would push a wide number out of sight.
    default: return width > 64 ? value : value.padStart(Math.ceil(width / 4), "0");
  }
}

/** Whether digits of a value are unknown. */
function unknown(signal, index) {
  return signal.kind === "bits" && wave.values[index].startsWith("?");
}

/** The number in a field at a time; NaN without a field or a known value. */
function fieldAt(field, time) {
  return parseInt(wave.values[field?.at(time)], 16);
}

/** Hues of texts by index. */
const hues = new Map();

/** A request has the same colour in every track, other transactions that of their first word. Red is for differences. */
function hue(signal, index, time) {
  let number = fieldAt(signal.track?.request, time);
  if (Number.isNaN(number)) {
    const word = wave.values[index].split("_", 1)[0];
    if (!hues.has(index)) hues.set(index, [...word].reduce((sum, c) => sum * 31 + c.codePointAt(0), 7) % 1009);
    number = hues.get(index);
  }
  return Math.round(50 + ((number * 137.508) % 280));
}

/** The line of the source that a transaction of a track names. */
function sourceLine(signal, time) {
  const line = fieldAt(signal.track?.line, time);
  if (!wave.source || !(line > 0) || !text(signal, signal.at(time))) return null;
  const [file, content] = wave.source;
  return { file, text: content, line };
}

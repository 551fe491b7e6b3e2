// Values as people read them.

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
    // Zeros in front of a wide number would push it out of sight.
    default: return width > 64 ? value : value.padStart(Math.ceil(width / 4), "0");
  }
}

/** Whether digits of a value are unknown. */
function unknown(signal, index) {
  return signal.kind === "bits" && wave.values[index].startsWith("?");
}

/** Hues by index: a request has the same colour in every track. Red is left out: it is for differences. */
const hues = new Map();

function hue(index) {
  let answer = hues.get(index);
  if (answer === undefined) {
    const value = wave.values[index];
    const request = /#(\d+)/.exec(value);
    const word = value.split("_", 1)[0];
    const number = request ? Number(request[1]) : [...word].reduce((sum, c) => sum * 31 + c.codePointAt(0), 7) % 1009;
    hues.set(index, (answer = Math.round(50 + ((number * 137.508) % 280))));
  }
  return answer;
}

/** File and line that a transaction names, if the page has the file: `sum.ptx:3`, or `line 3` of the only one. */
function sourceLine(value) {
  const [, only] = wave.sources.length === 1 ? (/_line_(\d+):/.exec(value) ?? []) : [];
  if (only) return { file: wave.sources[0][0], text: wave.sources[0][1], line: Number(only), words: `line ${only}` };
  for (const [file, text] of wave.sources) {
    const name = file.split("/").pop();
    // White space in values is `_`.
    const at = value.indexOf(`${name.replaceAll(" ", "_")}:`);
    const line = at < 0 ? NaN : parseInt(value.slice(at + name.length + 1), 10);
    if (line > 0) return { file, text, line, words: `${name}:${line}` };
  }
  return null;
}

// Rows of the list: groups, pairs and signals, folded or unfolded.

/** A row. `of` is its signal or pair, undefined for a group; `children` are folded below it unless it is open. */
class Row {
  constructor(label, depth, of, children, open) {
    Object.assign(this, { label, depth, of, children, open });
  }

  get foldable() {
    return this.children.length > 0;
  }

  /** Its signals. */
  signals() {
    return this.of instanceof Pair ? [this.of.left, this.of.right] : this.of ? [this.of] : [];
  }
}

/** Groups of the view, then everything; filled by `buildRows`. */
let roots = [];

function buildRows() {
  const groups = wave.groups.map(({ title, open, signals }) => {
    const of = signals.map((number) => wave.signals[number]);
    return new Row(title, 0, undefined, of.map((signal) => new Row(labelIn(of, signal), 1, signal, [], false)), open);
  });
  const all = scopeRows();
  // Unfold all signals if there is no view.
  all.open = groups.length === 0;
  roots = [...groups, all];
}

/** The name of a signal in a group: with as many of its scopes as the signals of the group do not share. */
function labelIn(group, signal) {
  // A track is named after its scope.
  const parts = (s) => (s.track ? s.scopes : [...s.scopes, s.name]);
  const own = parts(signal);
  let shared = 0;
  while (shared < own.length - 1 && group.every((other) => parts(other)[shared] === own[shared])) shared++;
  // If all signals are in one array element such as `lane03`, keep the scope name before it. `tag.tag03` does not
  // need this.
  const last = own[own.length - 1];
  const isElement = /^[a-z]+\d+$/.test(last) && !last.startsWith(own[shared - 1]);
  if (shared > 1 && shared === own.length - 1 && isElement) shared--;
  return own.slice(Math.max(shared, 1)).join(".");
}

/** All signals in their scopes; sides of one thing are one row, folded. */
function scopeRows() {
  const [left, right] = wave.sides;
  const pairOf = new Map();
  for (const pair of wave.pairs) {
    for (const signal of [pair.left, pair.right, pair.flag]) if (signal) pairOf.set(signal, pair);
  }
  const all = new Row("all signals", 0, undefined, [], true);
  const scopes = new Map([["", all]]);
  const scope = (names) => {
    const key = names.join("\n");
    let row = scopes.get(key);
    if (!row) {
      const parent = scope(names.slice(0, -1));
      // Unfold the tracks, which users read first.
      const open = parent === all || names[names.length - 1] === wave.transactions;
      scopes.set(key, (row = new Row(names[names.length - 1], parent.depth + 1, undefined, [], open)));
      parent.children.push(row);
    }
    return row;
  };
  for (const signal of wave.signals) {
    const pair = pairOf.get(signal);
    if (signal.track) scope(signal.scopes).of = signal;
    else if (!pair) {
      const parent = scope(signal.scopes);
      parent.children.push(new Row(signal.name, parent.depth + 1, signal, [], false));
    } else if (pair.left === signal) {
      const parent = scope(signal.scopes.map((name) => (name === left ? `${left} and ${right}` : name)));
      const depth = parent.depth + 1;
      const sides = [[left, pair.left], [right, pair.right], ["difference", pair.flag]].filter(([, side]) => side);
      const rows = sides.map(([name, side]) => new Row(`${signal.name} ${name}`, depth + 1, side, [], false));
      parent.children.push(new Row(signal.name, depth, pair, rows, false));
    }
  }
  const rank = (row) => (row.label === wave.transactions || row.of?.kind === "track" ? 0 : 1);
  const order = (row) => {
    row.children.forEach(order);
    row.children.sort((a, b) => rank(a) - rank(b));
  };
  order(all);
  return all;
}

/** Rows of which none is folded away, or those that a search finds. */
function visibleRows(search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  const walk = (row) => {
    if (words.length === 0) {
      found.push(row);
      if (row.open) row.children.forEach(walk);
      return;
    }
    const path = row.of?.path.toLowerCase();
    if (path && words.every((word) => path.includes(word))) found.push(row);
    if (!(row.of instanceof Pair)) row.children.forEach(walk);
  };
  if (words.length === 0) roots.forEach(walk);
  else walk(roots[roots.length - 1]);
  return found;
}

/** Opens what a row is in. */
function reveal(target) {
  const within = (row) => {
    if (row === target) return true;
    const inside = row.children.some(within);
    if (inside) row.open = true;
    return inside;
  };
  roots.forEach(within);
}

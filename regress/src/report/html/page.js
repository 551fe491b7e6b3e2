"use strict";
(() => {
  const groups = JSON.parse(document.getElementById("data").textContent);
  const LISTED = 200;

  /* make("td", {class: "figure"}, "text", node...): text is never markup. */
  function make(tag, attributes, ...content) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...content);
    return element;
  }
  const figure = number => number.toLocaleString("en-US");
  const short = number => number < 1000 ? String(number)
    : number < 99950 ? (number / 1000).toFixed(number < 9950 ? 1 : 0) + "k"
    : number < 99950000 ? (number / 1e6).toFixed(number < 9950000 ? 1 : 0) + "M" : (number / 1e9).toFixed(1) + "G";

  for (const group of groups) {
    group.sizes = group.dimensions.map(([, values]) => values.length);
    group.reason = new Map();
    for (const waiver of group.waivers || [])
      for (const place of waiver.places) if (group.counts[place] === 0) group.reason.set(place, waiver.reason);
  }
  /* The values of the bin at a place, the last dimension fastest. */
  function valuesAt(group, place) {
    const values = [];
    for (let d = group.sizes.length - 1; d >= 0; d--) {
      values[d] = place % group.sizes[d];
      place = Math.floor(place / group.sizes[d]);
    }
    return values;
  }
  const nameAt = (group, place) =>
    `${group.name}[${valuesAt(group, place).map((v, d) => group.dimensions[d][1][v]).join(", ")}]`;
  const hitsAt = (group, place) => Math.max(0, group.counts[place] || 0);
  const stateAt = (group, place) => group.counts[place] > 0 ? "hit"
    : group.counts[place] !== 0 ? "absent" : group.reason.has(place) ? "waived" : "missing";
  const WORDS = { hit: "hit", missing: "✗ missing", waived: "waived" };
  const RANK = { missing: 0, waived: 1, hit: 2 };

  /* A table of bins, the missing ones first. */
  function binTable(group, places, title) {
    const order = places.filter(place => stateAt(group, place) !== "absent")
      .sort((a, b) => RANK[stateAt(group, a)] - RANK[stateAt(group, b)] || a - b);
    const rows = order.slice(0, LISTED).map(place => binRow(group, place));
    return make("div", { class: "bins" },
      make("p", {}, `${title}: ${figure(order.length)} bin${order.length === 1 ? "" : "s"}` +
        (order.length > LISTED ? `, the first ${LISTED} of them` : "")),
      make("div", { class: "scroll" }, make("table", {},
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "bin"),
          make("th", { scope: "col", class: "figure" }, "hits"), make("th", { scope: "col" }, "state"))),
        make("tbody", {}, ...rows))));
  }
  function binRow(group, place, link) {
    const state = stateAt(group, place), name = make("code", {}, nameAt(group, place));
    return make("tr", { class: state === "missing" ? "missing" : null },
      make("td", {}, link ? make("a", { href: "#" + link }, name) : name),
      make("td", { class: "figure" }, figure(hitsAt(group, place))),
      make("td", {}, state === "waived" ? `waived: ${group.reason.get(place)}` : WORDS[state]));
  }

  /* The cross: a map of two dimensions, the last two to begin with, and a choice for each of the others. */
  function draw(group, into) {
    const rank = group.sizes.length, chosen = group.sizes.map(() => -1);
    let across = rank - 1, down = rank - 2;
    const strides = group.sizes.map((_, d) => group.sizes.slice(d + 1).reduce((a, b) => a * b, 1));
    const map = make("div", { class: "scroll" }), list = make("div", { "aria-live": "polite" }), filters = make("div", { class: "filters" });
    const all = Array.from(group.counts.keys());
    const button = make("button", { type: "button", click: () => list.replaceChildren(
      binTable(group, all.filter(place => stateAt(group, place) !== "hit"), "Not hit")) }, "List what is not hit");
    const open = all.some(place => ["missing", "waived"].includes(stateAt(group, place)));

    const choice = (name, options, value, set) => make("label", {}, name + " ",
      make("select", { change: event => { set(+event.target.value); redraw(); } },
        ...options.map(([at, text]) => make("option", { value: at, selected: at === value }, text))));
    function refilter() {
      const names = group.dimensions.map(([name], d) => [d, name]), parts = [];
      if (rank > 2) {
        /* A dimension taken for one axis while it is the other changes places with it. */
        parts.push(choice("rows", names, down, d => { if (d === across) across = down; down = d; chosen.fill(-1); refilter(); }),
          choice("columns", names, across, d => { if (d === down) down = across; across = d; chosen.fill(-1); refilter(); }));
        group.dimensions.forEach(([name, values], d) => {
          if (d !== across && d !== down)
            parts.push(choice(name, [[-1, `all ${values.length}`], ...values.entries()], chosen[d], v => { chosen[d] = v; }));
        });
      }
      if (open) parts.push(button);
      const focus = [...filters.querySelectorAll("select")].indexOf(document.activeElement);
      filters.replaceChildren(...parts);
      if (focus >= 0) filters.querySelectorAll("select")[focus].focus();
    }

    function redraw() {
      const rows = rank > 1 ? group.dimensions[down][1] : [""], columns = group.dimensions[across][1];
      /* Places of each cell of the map, over all values of what is not chosen. */
      let outer = [0];
      for (let d = 0; d < rank; d++) {
        if (d === across || d === down) continue;
        const values = chosen[d] < 0 ? group.dimensions[d][1].keys() : [chosen[d]];
        const steps = Array.from(values, v => v * strides[d]);
        outer = outer.flatMap(place => steps.map(step => place + step));
      }
      const summed = outer.length > 1;
      const most = all.reduce((most, place) => Math.max(most, group.counts[place]), 1);
      const cells = rows.map((row, r) => columns.map((column, c) => {
        const places = outer.map(first => first + (rank > 1 ? r * strides[down] : 0) + c * strides[across]);
        return cell(places, rank > 1 ? `${row}, ${column}` : column, summed, most);
      }));
      const narrow = Math.max(...columns.map(name => name.length)) > 5 && columns.length > 12;
      map.replaceChildren(make("table", { class: "map" + (narrow ? " narrow" : "") },
        make("thead", {}, make("tr", {},
          make("th", { scope: "col" }, rank > 1 ? `${group.dimensions[down][0]} \\ ${group.dimensions[across][0]}` : group.dimensions[across][0]),
          ...columns.map(name => make("th", { scope: "col" }, make("span", {}, name))))),
        make("tbody", {}, ...rows.map((name, r) => make("tr", {}, make("th", { scope: "row" }, name), ...cells[r])))));
      const first = map.querySelector("td button");
      if (first) first.tabIndex = 0;
      list.replaceChildren();
    }
    function cell(places, name, summed, most) {
      const states = places.map(place => stateAt(group, place)), of = state => states.filter(s => s === state).length;
      const bins = places.length - of("absent");
      if (bins === 0) return make("td", { class: "state-absent", title: "no bin: no configuration can hit it" }, "·");
      const state = of("missing") > 0 ? "missing" : of("hit") > 0 ? "hit" : "waived";
      const text = summed ? `${of("hit")}/${bins}${of("waived") ? " w" : ""}` : state === "hit" ? short(group.counts[places[0]]) : state === "waived" ? "w" : "0";
      const hits = places.reduce((sum, place) => sum + hitsAt(group, place), 0);
      /* Deeper: the more hits, or the larger the share that is missing. */
      const depth = state === "missing" ? .1 + .4 * of("missing") / bins
        : summed ? .3 : .12 + .4 * Math.log1p(hits) / Math.log1p(most);
      const label = `${name}: ${figure(hits)} hits; ${of("hit")} of ${bins} bins hit` +
        (of("waived") ? `, ${of("waived")} waived` : "") + (of("missing") ? `, ${of("missing")} missing` : "");
      const press = event => {
        for (const other of map.querySelectorAll("[aria-pressed=true]")) other.setAttribute("aria-pressed", "false");
        event.currentTarget.setAttribute("aria-pressed", "true");
        list.replaceChildren(binTable(group, places, name));
      };
      return make("td", { class: "state-" + state, style: `--depth:${depth.toFixed(2)}` },
        make("button", { type: "button", tabindex: -1, "aria-pressed": "false", "aria-label": label, title: label, click: press, keydown: walk }, text));
    }
    /* One stop for the tabulator; arrows walk over the map. */
    function walk(event) {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step) return;
      event.preventDefault();
      let td = event.currentTarget.parentElement;
      for (;;) {
        const row = step[0] === 0 ? td.parentElement : step[0] < 0 ? td.parentElement.previousElementSibling : td.parentElement.nextElementSibling;
        td = row && row.cells[td.cellIndex + step[1]];
        const next = td && td.querySelector("button");
        if (!td || td.tagName === "TH") return;
        if (next) {
          event.currentTarget.tabIndex = -1;
          next.tabIndex = 0;
          next.focus();
          return;
        }
      }
    }
    const swatch = (state, text, words) => make("span", {}, make("span", { class: "swatch state-" + state, style: "--depth:.3" }, text), words);
    into.replaceChildren(filters, map,
      make("p", { class: "legend" }, swatch("hit", "12", "hits"), swatch("missing", "0", "missing"), swatch("waived", "w", "waived"),
        swatch("absent", "·", "no bin"), ...(rank > 2 ? [swatch("missing", "3/4", "bins hit of those over all values of the other dimensions")] : [])),
      list);
    refilter();
    redraw();
  }
  for (const details of document.querySelectorAll("details[data-group]")) {
    const group = groups[+details.dataset.group], into = details.querySelector(".cross");
    const drawOnce = () => { if (details.open && !details.drawn && group.sizes.length) { details.drawn = true; draw(group, into); } };
    details.addEventListener("toggle", drawOnce);
    drawOnce();
  }

  /* What a link or the address leads to is opened. */
  function reveal() {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (target && target.tagName === "DETAILS") target.open = true;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView({ block: target.closest("pre") ? "center" : "start" });
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  /* Search over all bins. */
  const search = document.getElementById("search"), state = document.getElementById("state"), found = document.getElementById("found");
  if (search) {
    search.closest("div").hidden = false;
    let pending = 0;
    const find = () => {
      /* Words in any order; what has a bracket is a name as it is written. */
      const text = search.value.trim().toLowerCase(), wanted = state.value;
      const words = text.includes("[") ? [text] : text.split(/\s+/).filter(word => word);
      if (!words.length && !wanted) return found.replaceChildren();
      let number = 0;
      const rows = [];
      groups.forEach((group, g) => group.counts.forEach((count, place) => {
        const is = stateAt(group, place);
        if (is === "absent" || (wanted && is !== wanted)) return;
        const name = nameAt(group, place).toLowerCase();
        if (!words.every(word => name.includes(word))) return;
        number += 1;
        if (rows.length < LISTED) rows.push(binRow(group, place, "group-" + g));
      }));
      found.replaceChildren(make("p", {}, `${figure(number)} bin${number === 1 ? "" : "s"}` + (number > LISTED ? `, the first ${LISTED} of them` : "")),
        make("div", { class: "scroll", style: "max-height:22rem" }, make("table", {}, make("tbody", {}, ...rows))));
    };
    const soon = () => { clearTimeout(pending); pending = setTimeout(find, 120); };
    search.addEventListener("input", soon);
    state.addEventListener("change", find);
  }

  /* Buttons to copy; a page opened from a file may not use the clipboard, so selecting is the other way. */
  for (const code of document.querySelectorAll(".copy")) {
    const button = make("button", { type: "button", click: async () => {
      let done = false;
      try { await navigator.clipboard.writeText(code.textContent); done = true; } catch {
        getSelection().selectAllChildren(code);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "copied" : "selected";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    } }, "copy");
    code.after(button);
  }
})();

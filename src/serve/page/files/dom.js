// Elements without HTML text: no string is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function put(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "class") element.setAttribute("class", value);
  else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
  else element.setAttribute(name, value === true ? "" : value);
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** An element: h("p", {class: "soft"}, "text", other). Listeners are given as onclick and so on. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  fill(element, children);
  for (const [key, value] of Object.entries(attributes)) put(element, key, value);
  return element;
}

/** The same of SVG. */
export function s(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) put(element, key, value);
  return fill(element, children);
}

const ICONS = {
  ask: "M4 5h16M4 10h10M4 15h7M15 14l5 3-5 3z",
  datasets: "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zm0 0v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  budgets: "M3 20h18M6 16v-5M11 16V5M16 16V9M21 16v-3",
  history: "M4 12a8 8 0 1 0 2.6-5.9L4 8.5M4 4v4.5h4.5M12 8v4.5l3 2",
  ledger: "M7 3h12v15H7a2 2 0 0 0 0 3h12M5 19.5V5a2 2 0 0 1 2-2M10 8h6M10 12h4",
  users: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zm-6 9c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.6a3.5 3.5 0 0 1 0 6M17.5 14.4A6 6 0 0 1 21 20",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  out: "M14 4h5v16h-5M4 12h11M11 8l4 4-4 4",
  download: "M12 4v11M7.5 11L12 15.5 16.5 11M5 20h14",
  again: "M4 12a8 8 0 0 1 13.7-5.6L20 8.5M20 4v4.5h-4.5M20 12a8 8 0 0 1-13.7 5.6L4 15.5M4 20v-4.5h4.5",
  plus: "M12 5v14M5 12h14",
  remove: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  rows: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
  flask: "M9 3h6M10 3v6L4.5 18.5A1.7 1.7 0 0 0 6 21h12a1.7 1.7 0 0 0 1.5-2.5L14 9V3M7.5 15h9",
};

/** A drawing beside a text; it says nothing by itself. */
export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    s("path", { d: ICONS[name] }));
}

export function clear(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

let spoken = 0;

/** Say it to a screen reader, without moving the focus. */
export function announce(text) {
  const status = document.getElementById("status");
  status.textContent = "";
  clearTimeout(spoken);
  spoken = setTimeout(() => { status.textContent = text; }, 60);
}

let numbers = 0;

/** A name for an element that nothing else has. */
export function fresh(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}

/** A label above a control, with a hint below it. */
export function field(label, control, hint) {
  if (!control.id) control.id = fresh("field");
  const below = hint ? h("p", { class: "hint", id: fresh("hint") }, hint) : null;
  if (below) control.setAttribute("aria-describedby", below.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, below);
}

export function select(options, chosen, onchange) {
  return h("select", { onchange },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}

export function debounce(wait, run) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}

/** Hand a text over as a file. */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

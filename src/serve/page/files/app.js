// The page: who is signed in, which view is shown.
import { announce, clear, field, h, icon } from "./dom.js";
import { api, keptToken, useToken } from "./api.js";
import { askView } from "./ask.js";
import { budgetView } from "./budget.js";
import { datasetView, datasetsView } from "./datasets.js";
import { failure } from "./failure.js";
import { historyView } from "./history.js";
import { ledgerView } from "./ledger.js";
import { registerView } from "./register.js";
import { statisticsView } from "./statistics.js";
import { syntheticView } from "./synthetic.js";
import { usersView } from "./users.js";

const VIEWS = {
  ask: { title: "Ask", icon: "ask", show: askView, roles: ["owner", "analyst"] },
  datasets: { title: "Datasets", icon: "datasets", show: datasetsView, roles: ["owner", "analyst", "auditor"] },
  budgets: { title: "Budgets", icon: "budgets", show: budgetView, roles: ["owner", "analyst", "auditor"] },
  history: { title: "History", icon: "history", show: historyView, roles: ["owner", "analyst", "auditor"] },
  statistics: { title: "Statistics", icon: "flask", show: statisticsView, roles: ["owner", "analyst"] },
  synthetic: { title: "Synthetic data", icon: "rows", show: syntheticView, roles: ["owner", "analyst"] },
  ledger: { title: "Ledger", icon: "ledger", show: ledgerView, roles: ["owner", "auditor"] },
  users: { title: "Users", icon: "users", show: usersView, roles: ["owner"] },
  register: { title: "Register", show: registerView, roles: ["owner"], under: "datasets" },
};

const shell = document.getElementById("shell");
const door = document.getElementById("door");
const main = document.getElementById("main");

function newState(me) {
  const state = {
    me, shown: [], budgets: [],
    asked: { sql: "", epsilon: "0.5", within: "", size: "1000", delta: "", limit: "", mode: "price", shown: null, paid: new Map() },
    async loadPolicies(again = false) {
      if (this.shown.length && !again) return;
      const datasets = await api.datasets();
      this.shown = await Promise.all(datasets.map((one) => api.show(one.name)));
    },
  };
  return state;
}

let state = null;

// --- light and dark ---

function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeButton() {
  const button = h("button", { class: "slight", type: "button" });
  const draw = () => {
    clear(button, icon(dark() ? "sun" : "moon"), h("span", { class: "word" }, dark() ? "Light" : "Dark"));
    button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
  };
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("brume-theme", next);
    } catch {
      // It lasts until the page is left.
    }
    draw();
  });
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return button;
}

// --- views ---

function place() {
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/");
  try {
    return { name, rest: rest.map(decodeURIComponent) };
  } catch {
    return { name, rest: [] }; // an address that was cut off
  }
}

async function go(focus) {
  if (!state) return;
  const { name, rest } = place();
  const allowed = Object.entries(VIEWS).filter(([, view]) => view.roles.includes(state.me.role));
  const [now, view] = allowed.find(([key]) => key === name) || allowed[0];
  if (now !== name) {
    location.replace(`#/${now}`);
    return;
  }
  document.title = `${now === "datasets" && rest[0] ? rest[0] : view.title} · brume`;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === (view.under || now)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (focus) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  await (now === "datasets" && rest.length ? datasetView(main, state, rest[0]) : view.show(main, state, rest));
}

function openShell(me) {
  state = newState(me);
  clear(document.getElementById("nav"), h("ul", {}, Object.entries(VIEWS).filter(([, view]) => view.icon && view.roles.includes(me.role))
    .map(([name, view]) => h("li", {}, h("a", { href: `#/${name}`, "data-view": name }, icon(view.icon), view.title)))));
  clear(document.getElementById("account"),
    h("div", { class: "who" }, h("span", { class: "face", "aria-hidden": "true" }, me.name.slice(0, 1).toUpperCase()), h("div", {}, h("strong", {}, me.name), h("small", {}, me.role))),
    h("div", { class: "tools" }, themeButton(), h("button", { class: "slight", type: "button", "aria-label": "Sign out", onclick: () => signOut() }, icon("out"), h("span", { class: "word" }, "Sign out"))));
  door.hidden = true;
  clear(door);
  shell.hidden = false;
  go(true);
}

// --- the door ---

function signOut(error) {
  useToken("", false);
  state = null;
  shell.hidden = true;
  clear(main);
  openDoor(error);
}

function openDoor(error) {
  document.title = "Sign in · brume";
  door.hidden = false;
  const token = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const keep = h("input", { type: "checkbox", checked: true });
  const problem = h("div", {}, error ? failure(error) : null);
  const button = h("button", { class: "main", type: "submit" }, "Sign in");
  clear(door, h("div", { class: "card" },
    h("div", { class: "mark" }, h("img", { src: "icon.svg", alt: "", width: 44, height: 44 }), h("div", {}, h("h1", {}, "brume"), h("p", { class: "soft" }, "Ask private data, and see the error before you pay."))),
    h("form", { onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      useToken(token.value.trim(), keep.checked);
      try {
        openShell(await api.me());
      } catch (failed) {
        useToken("", false);
        clear(problem, failure(failed, { title: "That token does not open anything" }));
        token.select();
      }
      button.disabled = false;
    } }, field("Token", token, "The owner of the data gave it to you. It goes to this server only."),
    h("label", { class: "check" }, keep, "Keep it while this tab is open"), problem, button)),
  h("div", { class: "tools" }, themeButton()));
  token.focus();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  (state ? main : door).focus();
});
addEventListener("hashchange", () => {
  go(true);
  announce(document.title);
});

async function start() {
  const kept = keptToken();
  if (!kept) {
    openDoor();
    return;
  }
  useToken(kept, true);
  try {
    openShell(await api.me());
  } catch (error) {
    signOut(error.status === 401 ? undefined : error);
  }
}

start();

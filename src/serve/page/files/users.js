// Users, their roles and allotments. A token is shown once, and the server keeps no copy of it.
import { announce, clear, field, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { failure } from "./failure.js";
import { costText, count, timeText } from "./format.js";

const ROLES = { owner: "registers, amends, adds users", analyst: "asks, within an allotment", auditor: "reads history, verifies; does not ask" };

function allotments(user) {
  const list = user.allotments || [];
  if (!list.length) return user.role === "analyst" ? h("span", { class: "soft" }, "up to each dataset's budget") : h("span", { class: "soft" }, "–");
  return h("div", { class: "row" }, list.map((one) => h("span", { class: "chip cost" }, `${one.dataset}: ${costText(one.budget || one)}`,
    one.spent ? `, spent ${costText(one.spent)}` : "")));
}

function allotmentText(dataset, epsilon, delta) {
  return `${dataset}=epsilon=${epsilon.trim()}${delta.trim() ? `,delta=${delta.trim()}` : ""}`;
}

function ended(user) {
  if (user.state === "removed") return h("span", { class: "chip" }, "removed");
  if (user.state === "expired") return h("span", { class: "chip bad" }, "expired");
  return user.expires ? timeText(user.expires) : h("span", { class: "soft" }, "never");
}

class UsersView {
  constructor(main, state) {
    this.state = state;
    this.list = h("div", { "aria-busy": "true" });
    this.shown = h("div", { "aria-live": "polite" });
    this.problem = h("div");
    this.allots = [];
    this.lines = h("div", { class: "lines" });
    this.name = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    this.role = select(Object.keys(ROLES).map((role) => [role, role]), "analyst", () => this.drawLines());
    this.expires = h("input", { type: "date" });
    clear(main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Users"), h("p", {}, "An allotment is a second limit for one person, inside the dataset's budget. The budget holds against all of them together."))),
      this.shown, this.list,
      h("section", { class: "card", "aria-labelledby": "add-user" }, h("div", { class: "bar" }, h("h2", { id: "add-user" }, "Add a user")),
        h("form", { class: "inside", onsubmit: (event) => { event.preventDefault(); this.add(); } },
          h("div", { class: "fields" }, field("Name", this.name), field("Role", this.role, "Owners register and add users, analysts ask, auditors read the history and verify."),
            field("Token ends", this.expires, "Empty: never. It can be removed at any time.")), this.lines, this.problem,
          h("div", {}, h("button", { class: "main", type: "submit" }, icon("plus"), "Add user"))))));
    this.drawLines();
    this.load();
  }

  drawLines() {
    if (this.role.value !== "analyst") { clear(this.lines); return; }
    const names = this.state.shown.filter((one) => !one.public).map((one) => one.dataset);
    clear(this.lines, h("h3", {}, "Allotments"), h("p", { class: "hint" }, "Without one for a dataset, the analyst may use all of its budget."),
      this.allots.map((one, at) => h("div", { class: "set with-button" }, h("div", { class: "fields" },
        field("Dataset", select(names.map((name) => [name, name]), one.dataset, (event) => { one.dataset = event.target.value; })),
        field("ε", h("input", { type: "text", inputmode: "decimal", value: one.epsilon, oninput: (event) => { one.epsilon = event.target.value.trim(); } })),
        field("δ", h("input", { type: "text", inputmode: "decimal", value: one.delta, oninput: (event) => { one.delta = event.target.value.trim(); } }))),
      h("button", { class: "slight plain", type: "button", "aria-label": `Remove allotment ${at + 1}`, onclick: () => { this.allots.splice(at, 1); this.drawLines(); } }, icon("remove")))),
      names.length ? h("div", {}, h("button", { class: "slight", type: "button", onclick: () => { this.allots.push({ dataset: names[0], epsilon: "", delta: "" }); this.drawLines(); } }, icon("plus"), "Add an allotment")) : null);
  }

  async load() {
    try {
      const users = await api.users();
      clear(this.list, h("div", { class: "card scroll", tabindex: "0", role: "region", "aria-label": "Users" }, h("table", { class: "stack" },
        h("thead", {}, h("tr", {}, ["Name", "Role", "Allotments", "Token ends"].map((text) => h("th", { scope: "col" }, text)), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions")))),
        h("tbody", {}, users.map((user) => h("tr", {}, h("th", { scope: "row" }, user.name, user.name === this.state.me.name ? [" ", h("span", { class: "chip key" }, "you")] : null),
          h("td", {}, user.role, h("div", { class: "soft small" }, ROLES[user.role] || "")), h("td", {}, allotments(user), user.role === "analyst" && user.state !== "removed" ? this.allotForm(user.name) : null),
          h("td", {}, ended(user)),
          h("td", {}, user.name === this.state.me.name || user.state === "removed" ? null : this.buttons(user.name))))))));
      this.list.removeAttribute("aria-busy");
      announce(count(users.length, "user"));
    } catch (error) {
      clear(this.list, failure(error));
    }
  }

  /** Give an allotment, or change one. */
  allotForm(name) {
    const names = this.state.shown.filter((one) => !one.public).map((one) => one.dataset);
    const dataset = select(names.map((one) => [one, one]), names[0], () => {});
    const epsilon = h("input", { type: "text", inputmode: "decimal", required: true, autocomplete: "off" });
    const delta = h("input", { type: "text", inputmode: "decimal", placeholder: "in proportion", autocomplete: "off" });
    const problem = h("div");
    return names.length ? h("details", {}, h("summary", {}, "Change"), h("form", { class: "lines", "aria-label": `Allotment of ${name}`, onsubmit: async (event) => {
      event.preventDefault();
      try {
        await api.allot(name, allotmentText(dataset.value, epsilon.value, delta.value));
        announce(`The allotment of ${name} is changed`);
        this.load();
      } catch (error) {
        clear(problem, failure(error, { title: "The allotment was not changed" }));
      }
    } }, h("div", { class: "fields" }, field("Dataset", dataset), field("ε in all", epsilon), field("δ in all", delta)), problem,
    h("div", {}, h("button", { class: "slight", type: "submit" }, "Save")))) : null;
  }

  buttons(name) {
    const renew = h("button", { class: "slight", type: "button", onclick: async () => {
      try {
        this.showToken(await api.newToken(name));
        announce(`A new token for ${name}; the old one is refused from now on`);
      } catch (error) {
        clear(this.problem, failure(error));
      }
    } }, icon("again"), "New token");
    return h("div", { class: "actions" }, renew, this.removeButton(name));
  }

  /** It asks once more before it removes. */
  removeButton(name) {
    const button = h("button", { class: "slight danger", type: "button", onclick: async () => {
      if (!button.dataset.sure) {
        button.dataset.sure = "yes";
        clear(button, `Remove ${name}?`);
        setTimeout(() => { delete button.dataset.sure; clear(button, "Remove"); }, 5000);
        return;
      }
      try {
        await api.removeUser(name);
        announce(`${name} is removed`);
        this.load();
      } catch (error) {
        clear(this.problem, failure(error));
      }
    } }, "Remove");
    return button;
  }

  async add() {
    clear(this.problem);
    const user = { name: this.name.value.trim(), role: this.role.value };
    if (this.expires.value) user.expires = this.expires.value;
    const allots = user.role === "analyst" ? this.allots.filter((one) => one.epsilon) : [];
    if (allots.length) user.allot = allots.map((one) => allotmentText(one.dataset, one.epsilon, one.delta));
    try {
      const made = await api.addUser(user);
      this.showToken(made);
      this.name.value = "";
      this.allots = [];
      this.drawLines();
      this.load();
    } catch (error) {
      clear(this.problem, failure(error, { title: "The user was not added" }));
    }
  }

  showToken(made) {
    const copy = h("button", { class: "slight", type: "button", onclick: async () => {
      await navigator.clipboard.writeText(made.token);
      announce("Copied");
    } }, icon("copy"), "Copy");
    const box = h("div", { class: "note free token", tabindex: "-1" },
      h("p", {}, h("strong", {}, `The token of ${made.name}`), ": it is shown now and never again. Hand it over by a safe way."), h("code", {}, made.token), h("div", {}, copy));
    clear(this.shown, box);
    box.focus();
    box.scrollIntoView({ block: "nearest" });
  }
}

export async function usersView(main, state) {
  await state.loadPolicies();
  new UsersView(main, state);
}

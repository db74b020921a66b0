// What was asked, what it cost, and every answer again for nothing.
import { announce, clear, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { answerCard } from "./answer.js";
import { costText, count, timeText } from "./format.js";
import { failure } from "./failure.js";

const STATES = { committed: ["free", "answered"], reserved: ["cost", "no answer, spent"], failed: ["bad", "failed, spent"] };

function line(event, state, place) {
  const [style, text] = STATES[event.state] || ["", event.state];
  const again = h("button", { class: "slight", type: "button", onclick: async () => {
    again.disabled = true;
    try {
      const { card, heading, text: told } = answerCard(await api.recorded(event.id), { title: "Answer, read again", sql: event.sql, charges: [event.id] });
      clear(place, card);
      heading.focus({ preventScroll: true });
      place.scrollIntoView({ block: "start" });
      announce(told);
    } catch (error) {
      clear(place, failure(error, { title: "It cannot be read again" }));
      place.scrollIntoView({ block: "nearest" });
    }
    again.disabled = false;
  } }, icon("again"), "Read again, free");
  return h("tr", {},
    h("td", { "data-label": "When" }, h("time", { datetime: event.time, class: "small" }, timeText(event.time)), event.user ? h("div", { class: "soft small" }, event.user) : null),
    h("td", {}, h("div", { class: "sql" }, event.sql || event.kind || "–"), h("div", { class: "soft small" }, event.dataset)),
    h("td", { class: "number" }, event.cost ? h("span", { class: "chip cost" }, costText(event.cost)) : null),
    h("td", {}, h("span", { class: `chip ${style}` }, text)),
    h("td", {}, h("div", { class: "actions" }, event.sql && event.cost && event.state === "committed" ? again : null,
      event.sql && state.me.role !== "auditor" ? h("button", { class: "slight plain", type: "button", onclick: () => { state.asked.sql = event.sql; state.asked.shown = null; location.hash = "#/ask"; } }, icon("edit"), "Edit") : null)));
}

export async function historyView(main, state) {
  const place = h("div");
  const body = h("div", { "aria-busy": "true" });
  const filter = h("div", { class: "row" });
  clear(main, h("div", { class: "view" },
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "History"), h("p", {}, "Every charge, newest first. What was answered once is in the ledger: reading it again tells nobody anything new, so it is free.")), filter), place, body));
  try {
    let page = await api.history();
    const events = page.events.slice().reverse();
    const more = h("button", { type: "button", onclick: async () => {
      more.disabled = true;
      try {
        page = await api.history(page.before);
        events.push(...page.events.slice().reverse());
        choose();
      } catch (error) {
        clear(place, failure(error));
      }
      more.disabled = false;
    } }, "Older ones");
    const draw = (name) => {
      const list = name ? events.filter((event) => event.dataset === name) : events;
      clear(body, list.length ? h("div", { class: "card scroll", tabindex: "0", role: "region", "aria-label": "Questions" }, h("table", { class: "stack past" },
        h("thead", {}, h("tr", {}, ["When", "Question"].map((text) => h("th", { scope: "col" }, text)), h("th", { scope: "col", class: "number" }, "Price"), h("th", { scope: "col" }, "State"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Actions")))),
        h("tbody", {}, list.map((event) => line(event, state, place))))) : h("p", { class: "card empty" }, "Nothing was asked yet.", h("a", { class: "button", href: "#/ask" }, "Ask")), page.before ? more : null);
      announce(count(list.length, "question"));
    };
    /** The datasets that events are of, the chosen one as before, and what it has. */
    let chosen = "";
    const choose = () => {
      const names = [...new Set(events.map((event) => event.dataset).filter(Boolean))];
      if (names.length > 1) {
        const chooser = select([["", "All datasets"], ...names.map((name) => [name, name])], chosen, () => { chosen = chooser.value; draw(chosen); });
        chooser.setAttribute("aria-label", "Dataset");
        clear(filter, chooser);
      }
      draw(chosen);
    };
    choose();
    body.removeAttribute("aria-busy");
  } catch (error) {
    clear(body, failure(error));
  }
}

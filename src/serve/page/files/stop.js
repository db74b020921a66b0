// What runs, with the button that ends it. It stands over the page, so that it is in sight wherever one has scrolled.
import { announce, clear, h, icon } from "./dom.js";
import { api, newTicket } from "./api.js";

/** {element, during}: `during(call, text)` shows the element while `call(ticket)` runs. */
export function stopButton() {
  let ticket = null;
  const button = h("button", { class: "slight danger", type: "button", onclick: async () => {
    const ending = ticket;
    button.disabled = true;
    announce("Stopping. What is spent stays spent.");
    try {
      await api.cancel(ending);
    } catch {
      // The call goes on, and can be stopped again.
    }
    setTimeout(() => { button.disabled = false; }, 1000);
  } }, icon("remove"), "Stop");
  const words = h("span");
  const element = h("div", { class: "running", hidden: true }, h("span", { class: "working", "aria-hidden": "true" }), words, button);
  const during = async (call, text) => {
    const start = performance.now();
    const tell = () => {
      const seconds = Math.floor((performance.now() - start) / 1000);
      clear(words, seconds ? `${text} ${seconds} s` : text);
    };
    ticket = newTicket();
    tell();
    element.hidden = false;
    button.disabled = false;
    const clock = setInterval(tell, 1000);
    try {
      return await call(ticket);
    } finally {
      clearInterval(clock);
      ticket = null;
      element.hidden = true;
    }
  };
  return { element, during };
}

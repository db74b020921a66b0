// The button that ends a call which runs. It is there only meanwhile.
import { announce, h, icon } from "./dom.js";
import { api, newTicket } from "./api.js";

/** {button, during}: `during(call)` shows the button while `call(ticket)` runs. */
export function stopButton() {
  let ticket = null;
  const button = h("button", { class: "slight danger", type: "button", hidden: true, onclick: async () => {
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
  const during = async (call) => {
    ticket = newTicket();
    button.hidden = false;
    button.disabled = false;
    try {
      return await call(ticket);
    } finally {
      ticket = null;
      button.hidden = true;
    }
  };
  return { button, during };
}

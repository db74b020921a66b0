// The server's routes. The token goes into a header, never into an address or a cookie; it is kept in this
// tab's session storage at most.

const KEPT = "brume-token";
let token = "";

export class ServerError extends Error {
  constructor(status, body) {
    const error = (body && body.error) || {};
    super(error.message || `the server answered ${status}`);
    this.status = status;
    this.code = error.code || "server";
    this.hint = error.hint || "";
    this.position = error.position;
  }
}

export function keptToken() {
  try {
    return sessionStorage.getItem(KEPT) || "";
  } catch {
    return "";
  }
}

export function useToken(text, keep) {
  token = text;
  try {
    if (keep && text) sessionStorage.setItem(KEPT, text);
    else sessionStorage.removeItem(KEPT);
  } catch {
    // It lasts until the page is left.
  }
}

async function send(method, path, body, signal, ticket) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(ticket ? { "Brume-Ticket": ticket } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, { error: { code: "network", message: "the server cannot be reached",
      hint: "if a question was under way, its price may be spent: look at the history, and read the answer there for free" } });
  }
  let value = null;
  try {
    value = await answer.json();
  } catch {
    value = null;
  }
  if (!answer.ok || (value && value.error)) {
    const error = new ServerError(answer.status, value);
    if (answer.status === 503 && !error.hint) error.hint = "the server is busy: try again in a moment";
    if (answer.status === 429 && !error.hint) error.hint = "too many requests: wait a moment";
    throw error;
  }
  return value;
}

const get = (path) => send("GET", path);
const post = (path, body, signal, ticket) => send("POST", path, body, signal, ticket);
const part = encodeURIComponent;

/** A name for a call that may be stopped: nobody else has it. */
export function newTicket() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const api = {
  me: () => get("/v1/me"),
  datasets: async () => (await get("/v1/datasets")).datasets,
  show: (name) => get(`/v1/datasets/${part(name)}`),
  register: (name, policy) => post("/v1/datasets", { name, policy }),
  budgets: async () => (await get("/v1/budget")).budgets,
  /** A page of the history, oldest first: {events, before}; `before` is that of the next page, or null. */
  history: (before) => get(before ? `/v1/history?before=${part(before)}` : "/v1/history"),
  wholeHistory: async () => {
    let page = await get("/v1/history?limit=1000"), { events } = page;
    while (page.before) {
      page = await get(`/v1/history?limit=1000&before=${part(page.before)}`);
      events = page.events.concat(events);
    }
    return events;
  },
  /** The recorded answer of one charge: there is no price in this request, so it cannot spend. */
  recorded: (id) => get(`/v1/history?answer=${part(id)}`),
  explain: (question, signal) => post("/v1/explain", question, signal),
  query: (question, ticket) => post("/v1/query", question, undefined, ticket),
  limits: (question, ticket) => post("/v1/limits", question, undefined, ticket),
  dummy: (question, ticket) => post("/v1/dummy", question, undefined, ticket),
  release: (question, ticket) => post("/v1/release", question, undefined, ticket),
  synth: (question, ticket) => post("/v1/call/synth", question, undefined, ticket),
  /** The server ends the call of a ticket; what that has spent stays spent. */
  cancel: (ticket) => post("/v1/cancel", { ticket }),
  amend: (name, changes) => post("/v1/call/amend", { name, ...changes }),
  verify: () => get("/v1/ledger/verify"),
  exported: () => get("/v1/ledger/export"),
  users: async () => (await get("/v1/users")).users,
  addUser: (user) => post("/v1/users", user),
  allot: (name, allotment) => post("/v1/call/user/allot", { name, allotment: [allotment] }),
  newToken: (name) => post("/v1/call/user/token", { name }),
  removeUser: (name) => send("DELETE", `/v1/users/${part(name)}`),
};

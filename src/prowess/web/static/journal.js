// Keeps the journal current: the stream says that something happened, the server renders what it was,
// and rows that are not here yet are put on top. Without this script the page is a page.
(() => {
  const MOST_ROWS = 300;
  const GATHER_MILLISECONDS = 200;

  addEventListener("DOMContentLoaded", () => {
    const bar = document.querySelector("[data-journal-live]");
    const entries = document.getElementById("entries");
    if (!bar || !window.EventSource) return;
    const said = bar.querySelector("[data-journal-said]");
    const button = bar.querySelector("[data-journal-pause]");
    let stream = null;
    let timer = null;
    let fresh = 0;

    const tell = () => {
      const what = fresh ? `${fresh} new since you opened this page` : "new entries appear by themselves";
      said.textContent = `Live: ${what}`;
    };
    const take = async () => {
      timer = null;
      const answer = await fetch(location.href, { headers: { "HX-Request": "true" } });
      if (!answer.ok) return;
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      const body = entries.querySelector("tbody");
      const rows = [...found.querySelectorAll("tbody tr")].filter((row) => !document.getElementById(row.id));
      if (body) body.prepend(...rows);
      else entries.replaceChildren(...found.body.childNodes);
      while (body && body.rows.length > MOST_ROWS) body.lastElementChild.remove();
      fresh += rows.length;
      tell();
    };
    const listen = () => {
      stream = new EventSource(bar.dataset.journalLive);
      stream.addEventListener("open", tell);
      stream.addEventListener("entry", () => (timer ??= setTimeout(take, GATHER_MILLISECONDS)));
      stream.addEventListener("error", () => (said.textContent = "The connection broke; trying again…"));
    };
    const hush = () => {
      stream?.close();
      clearTimeout(timer);
      stream = timer = null;
    };
    button.addEventListener("click", () => {
      const pausing = stream !== null;
      button.setAttribute("aria-pressed", String(pausing));
      button.textContent = pausing ? "Go on" : "Pause";
      if (!pausing) {
        listen();
        take(); // what happened meanwhile
        return;
      }
      hush();
      said.textContent = "Paused";
    });
    addEventListener("pagehide", hush);
    bar.hidden = false;
    listen();
  });
})();

// Times as the reader's clock says them, with the zone in the heading; what is less than a day away says how
// far. The exact time, here and in UTC, is at hand on each. Without this script times are those of UTC.
(() => {
  const DAY = 86_400_000;
  const STEPS = [["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];
  const AGAIN_MILLISECONDS = 30_000;
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const zone = (moment) =>
    new Intl.DateTimeFormat("en", { timeZoneName: "short" })
      .formatToParts(moment)
      .find((part) => part.type === "timeZoneName").value;
  const two = (number) => String(number).padStart(2, "0");
  const local = (moment) =>
    `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())} ` +
    `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
  const relative = (away) => {
    const [unit, size] = STEPS.find(([, size]) => Math.abs(away) >= size) ?? STEPS.at(-1);
    return words.format(Math.trunc(away / size), unit);
  };
  const put = (element, text) => element.textContent === text || (element.textContent = text);
  const tell = () => {
    document.querySelectorAll("time[datetime]").forEach((element) => {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) return;
      const away = moment - Date.now();
      const utc = `${moment.toISOString().slice(0, 19).replace("T", " ")} UTC`;
      element.title = `${local(moment)} ${zone(moment)}, ${utc}`;
      put(element, Math.abs(away) < DAY ? relative(away) : local(moment));
    });
    document.querySelectorAll("[data-zone]").forEach((element) => put(element, zone(new Date())));
  };
  addEventListener("DOMContentLoaded", () => {
    tell();
    setInterval(tell, AGAIN_MILLISECONDS);
    // Parts of a page that came later. What `tell` writes is no news: it changes nothing twice.
    new MutationObserver(tell).observe(document.getElementById("content"), { childList: true, subtree: true });
  });
})();

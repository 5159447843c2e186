// Draws every element with data-chart as a time series: {label, names, times, series, kind}.
// `times` are seconds; `series` is one list of numbers (or null) per name; `kind` is "line" or "bars".
// The same numbers stand below as a table.
(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // A colour that follows light and dark has to be resolved on an element before a canvas can use it.
  const resolved = (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  // One row for each distance between ticks, as uPlot takes them: hours by the clock, days by the calendar.
  const DAY = "\n{MM}-{DD}";
  const DATES = [
    [31536000, "{YYYY}", null, null, null, null, null, null, 1],
    [2419200, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
    [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
    [1, ":{ss}", "\n{HH}:{mm}", null, null, null, null, null, 1],
  ];
  const SHORT = new Intl.NumberFormat("en", { notation: "compact" }); // 15K beside an axis, however many
  const axis = () => ({
    stroke: resolved("--ink-dim"),
    grid: { stroke: resolved("--line"), width: 1 },
    ticks: { stroke: resolved("--line"), width: 1 },
    font: `12px ${colour("--sans")}`,
  });
  const draw = (element) => {
    const data = JSON.parse(element.dataset.chart);
    // What is not over yet is drawn apart: a lighter band, so that a fall at its end is not taken for one.
    const unfinished = (plot) => {
      if (!data.unfinished || data.times.length < 2) return;
      const from = plot.valToPos(data.times[data.times.length - 2], "x", true);
      plot.ctx.save();
      plot.ctx.globalAlpha = 0.5;
      plot.ctx.fillStyle = resolved("--sunken");
      plot.ctx.fillRect(from, plot.bbox.top, plot.bbox.left + plot.bbox.width - from, plot.bbox.height);
      plot.ctx.restore();
    };
    const bars = data.kind === "bars" ? uPlot.paths.bars({ size: [0.7, 24], gap: 1 }) : undefined;
    const lines = data.names.map((name, at) => ({
      label: name,
      stroke: resolved(`--c${at % 6}`),
      width: 1.75,
      fill: bars && resolved(`--c${at % 6}`),
      paths: bars,
      spanGaps: true, // where there is nothing to have a share of, the line goes on to where there is
      points: { show: !bars && data.times.length < 40 },
    }));
    element.replaceChildren();
    const options = {
      width: element.clientWidth,
      height: 190,
      legend: { live: true },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { y: false },
      hooks: { drawClear: [unfinished] },
      padding: [null, 24, null, null],
      axes: [
        { ...axis(), values: DATES },
        { ...axis(), size: 46, values: (plot, ticks) => ticks.map((tick) => SHORT.format(tick)) },
      ],
      scales: { y: { range: (plot, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.08 : 1] } },
      series: [{}, ...lines],
    };
    element.plot = new uPlot(options, [data.times, ...data.series], element);
  };
  const drawAll = () => document.querySelectorAll("[data-chart]").forEach(draw);
  addEventListener("DOMContentLoaded", () => {
    if (!window.uPlot) return; // the table below each chart says the same
    drawAll();
    addEventListener("resize", () =>
      document.querySelectorAll("[data-chart]").forEach((element) => {
        element.plot?.setSize({ width: element.clientWidth, height: 190 });
      }),
    );
    document.addEventListener("themechange", drawAll);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  });
})();

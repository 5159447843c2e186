// Draws the course of an agent: fitness above, the five axes below, generations as upright lines with
// their numbers, grace periods shaded. Along evaluations or along time; the tables say the same.
(() => {
  const HEIGHTS = { fitness: 220, axes: 180 };
  const NARROWEST_LABEL = 34;

  const resolved = (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;
  const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500];
  const axis = () => ({
    stroke: resolved("--ink-dim"),
    grid: { stroke: resolved("--line"), width: 1 },
    ticks: { stroke: resolved("--line"), width: 1 },
    font: font(12),
  });

  // Behind the lines: grace periods. In front: a line for each generation, labelled where there is room.
  const marks = (data, xs, labelled) => ({
    hooks: {
      drawClear: (plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.fillStyle = resolved("--warn-soft");
        for (const band of data.bands) {
          const left = plot.valToPos(xs[band.start], "x", true);
          const right = plot.valToPos(xs[band.end], "x", true);
          ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
        }
        ctx.restore();
      },
      draw: (plot) => {
        const { ctx, bbox } = plot;
        const ratio = devicePixelRatio;
        // Rollbacks are named on a line of their own, so that no generation beside them takes their place.
        const free = [-Infinity, -Infinity];
        ctx.save();
        ctx.lineWidth = ratio;
        ctx.font = font(11 * ratio);
        for (const mark of data.marks) {
          const x = Math.round(plot.valToPos(xs[mark.at], "x", true));
          ctx.strokeStyle = ctx.fillStyle = resolved(mark.tone ? `--${mark.tone}` : "--ink-dim");
          ctx.setLineDash(mark.tone === "bad" ? [] : [3 * ratio, 3 * ratio]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          const row = mark.tone === "bad" ? 1 : 0;
          if (labelled && x >= free[row]) {
            const fits = x + NARROWEST_LABEL * ratio < bbox.left + bbox.width;
            ctx.textAlign = fits ? "left" : "right";
            ctx.fillText(mark.text, x + (fits ? 4 : -4) * ratio, bbox.top + (11 + 13 * row) * ratio);
            free[row] = x + Math.max(NARROWEST_LABEL * ratio, ctx.measureText(mark.text).width + 10 * ratio);
          }
        }
        ctx.restore();
      },
    },
  });

  const draw = (root, scale) => {
    const data = JSON.parse(root.dataset.evolution);
    const xs = data[scale];
    const lines = { fitness: [data.fitness], axes: data.axes };
    // Fitness moves little: it gets as much of the height as it needs, never less than a tenth each way.
    const around = (plot, low, high) => [Math.max(0, low - 0.1), Math.min(1.02, high + 0.12)];
    for (const place of root.querySelectorAll("[data-part]")) {
      const part = place.dataset.part;
      const first = part === "fitness" ? 0 : 1;
      place.plot?.destroy();
      place.plot = new uPlot(
        {
          width: place.clientWidth,
          height: HEIGHTS[part],
          cursor: { y: false, sync: { key: "evolution" } },
          legend: { show: false },
          axes: [{ ...axis(), ...(scale === "times" ? {} : { incrs: WHOLE }) }, { ...axis(), size: 46 }],
          scales: { x: { time: scale === "times" }, y: { range: part === "fitness" ? around : [0, 1.04] } },
          series: [
            {},
            ...lines[part].map((_, at) => ({
              stroke: resolved(`--c${first + at}`),
              width: part === "fitness" ? 2.25 : 1.5,
              points: { show: xs.length < 40, size: 5 },
            })),
          ],
          plugins: [marks(data, xs, part === "fitness")],
        },
        [xs, ...lines[part]],
        place,
      );
    }
  };

  addEventListener("DOMContentLoaded", () => {
    const root = document.querySelector("[data-evolution]");
    if (!root || !window.uPlot) return;
    let scale = "evaluations";
    const again = () => draw(root, scale);
    const chooser = document.querySelector("[data-evolution-scale]");
    chooser.hidden = false;
    chooser.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      scale = button.value;
      for (const one of chooser.children) one.setAttribute("aria-pressed", String(one === button));
      again();
    });
    again();
    addEventListener("resize", again);
    document.addEventListener("themechange", again);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  });
})();

// Draws the picture of the page `graph` from the numbers its data-graph names.
(() => {
  const TONES = { DEPENDS_ON: "--c4", COMPOSED_WITH: "--c3", TAGGED_WITH: "--c1", SAME_CATEGORY: "--c5" };
  const CLOSEST = 1.4; // how near a few capabilities are shown at first
  const READABLE = 11; // pixels on the screen
  const FEW = 160; // so few that a layout by forces is quick, and every name has room
  // A colour that follows light and dark has to be resolved on an element before a canvas can use it.
  const resolved = (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const style = (isSmall) => {
    const [ink, dim, surface, accent] = ["--ink", "--ink-dim", "--surface", "--accent"].map(resolved);
    const edges = Object.entries(TONES).map(([type, name]) => ({
      selector: `edge[type="${type}"]`,
      style: { "line-color": resolved(name), "target-arrow-color": resolved(name) },
    }));
    return [
      {
        selector: "node",
        style: {
          width: 14, height: 14, "background-color": dim, "border-width": 1.5, "border-color": surface,
          label: "data(name)", color: ink, "font-size": isSmall ? 14 : 12, "text-valign": "bottom", "text-margin-y": 3,
          "text-max-width": 150, "text-wrap": "ellipsis", "text-outline-color": surface, "text-outline-width": 2,
          "min-zoomed-font-size": isSmall ? 6 : 10,
        },
      },
      { selector: "edge", style: { width: 1.5, opacity: isSmall ? 0.75 : 0.4, "curve-style": "haystack" } },
      ...edges,
      { selector: 'edge[type="SAME_CATEGORY"]', style: { opacity: isSmall ? 0.45 : 0.2, "line-style": "solid" } },
      {
        selector: 'edge[type="DEPENDS_ON"]',
        style: { width: 2, opacity: 0.9, "curve-style": "straight", "target-arrow-shape": "triangle", "arrow-scale": 0.8 },
      },
      {
        selector: "node.group",
        style: {
          width: "data(size)", height: "data(size)", "background-opacity": 0.05, "background-color": accent,
          "border-width": 0, "font-weight": 600, color: dim, "text-valign": "top",
          "text-margin-y": -2, "text-wrap": "none", "min-zoomed-font-size": 6, "z-index": 0, events: "no",
        },
      },
      { selector: ".around", style: { "background-color": accent, width: 18, height: 18 } },
      { selector: "node:selected", style: { "background-color": accent, width: 18, height: 18, "min-zoomed-font-size": 0, "z-index": 9 } },
      { selector: ".faded", style: { opacity: 0.2, "text-opacity": 0.4 } },
      { selector: ".nameless", style: { "text-opacity": 0, "text-outline-opacity": 0 } },
    ];
  };
  const elements = (data, isSmall, named) => [
    ...(isSmall ? [] : data.groups).map((group, at) => ({
      classes: "group", selectable: false, grabbable: false, position: { x: group.x, y: group.y },
      data: { id: `group ${at}`, name: group.name, size: 2 * group.radius + 24 },
    })),
    ...data.nodes.map((node) => ({
      classes: node.id === data.around ? "around" : "", position: { x: node.x, y: node.y },
      data: { id: node.id, name: named(node), kind: node.kind, about: node.about },
    })),
    ...data.links.map((link) => ({ data: { source: link.source, target: link.target, type: link.type } })),
  ];
  // A name that would lie on another is left out: first come what is chosen and what has most relations. Nearer, there is
  // room for more of them.
  const untangle = (cy) => {
    const shown = [];
    const view = cy.extent();
    const rank = (node) => (node.selected() ? 3e6 : 0) + (node.hasClass("around") ? 2e6 : 0) + (node.hasClass("group") ? 1e6 + node.width() : 0) + node.degree(false);
    const inView = cy.nodes().filter((node) => {
      const { x, y } = node.position();
      return node.hasClass("group") || (x >= view.x1 && x <= view.x2 && y >= view.y1 && y <= view.y2);
    });
    // What is hidden has no box to compare, so every name comes back before any is left out.
    inView.removeClass("nameless");
    cy.batch(() => {
      // Names are drawn at the next power of two of the zoom, and judged by that whether they are too small.
      const zoom = 2 ** Math.ceil(Math.log2(cy.zoom()));
      const tooSmall = (node) => parseFloat(node.style("font-size")) * zoom < parseFloat(node.style("min-zoomed-font-size"));
      inView.sort((one, other) => rank(other) - rank(one)).forEach((node) => {
        if (!node.selected() && tooSmall(node)) return;
        const box = node.boundingBox({ includeNodes: false, includeEdges: false, includeLabels: true });
        const lies = shown.some((one) => box.x1 < one.x2 && one.x1 < box.x2 && box.y1 < one.y2 && one.y1 < box.y2);
        if (lies) node.addClass("nameless");
        else shown.push(box);
      });
    });
  };
  const choose = (picture, cy) => {
    const box = picture.querySelector(".chosen");
    const [title, id, about] = [...box.querySelectorAll("h3, p")];
    cy.on("select", "node", ({ target }) => {
      const near = target.closedNeighborhood();
      cy.elements().not(".group").addClass("faded");
      near.removeClass("faded");
      title.textContent = target.data("name");
      id.textContent = target.id();
      about.textContent = target.data("about");
      const query = encodeURIComponent(target.id());
      box.querySelector("[data-open]").href = `/capability?id=${query}`;
      box.querySelector("[data-around]").href = `/graph?around=${query}`;
      box.hidden = false;
    });
    cy.on("unselect", "node", () => {
      cy.elements().removeClass("faded");
      box.hidden = true;
    });
  };
  const steer = (picture, cy, fit) => {
    const zoom = (by) => cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    const acts = { in: () => zoom(1.4), out: () => zoom(1 / 1.4), fit };
    picture.querySelectorAll("[data-zoom]").forEach((button) => {
      button.addEventListener("click", () => acts[button.dataset.zoom]());
    });
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const keys = { "+": acts.in, "=": acts.in, "-": acts.out, 0: acts.fit, Escape: () => cy.elements().unselect() };
    picture.querySelector(".canvas").addEventListener("keydown", (event) => {
      const [x, y] = moves[event.key] ?? [];
      const act = x === undefined ? keys[event.key] : () => cy.panBy({ x, y });
      if (!act || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
  };
  const draw = async (picture) => {
    const answer = await fetch(picture.dataset.graph, { headers: { Accept: "application/json" } });
    const status = picture.querySelector(".status");
    if (!answer.ok) {
      status.textContent = "The picture could not be loaded; the list below has everything.";
      return;
    }
    const data = await answer.json();
    // Where most have no relation, a layout by forces is a row of lone points: they stand by their groups then.
    const isRelated = data.around || data.links.length * 2 >= data.nodes.length;
    const isSmall = !data.grouped && data.nodes.length <= FEW && isRelated;
    // A server's name stands above its tools, and need not stand before each.
    const isByServer = !isSmall && (data.grouped || "provider") === "provider";
    const named = (node) => (isByServer ? node.name.split("/").pop() : node.name);
    const cy = cytoscape({
      container: picture.querySelector(".canvas"),
      elements: elements(data, isSmall, named),
      style: style(isSmall),
      layout: isSmall
        ? { name: "cose", animate: false, randomize: false, nodeDimensionsIncludeLabels: true, nodeRepulsion: () => 3000, idealEdgeLength: () => 36, nodeOverlap: 8, gravity: 2, padding: 30, componentSpacing: 24 }
        : { name: "preset", fit: true, padding: 30 },
      minZoom: 0.03, maxZoom: 6,
      hideEdgesOnViewport: data.links.length > 1500, textureOnViewport: data.nodes.length > 600,
      pixelRatio: data.nodes.length > 600 ? 1 : "auto",
    });
    const fit = () => {
      cy.fit(undefined, 30);
      if (cy.zoom() > CLOSEST) cy.zoom(CLOSEST);
      cy.center();
      // Where everything fits only when it is small, as on a phone, names are larger, and fewer have room.
      const font = Math.max(14, READABLE / cy.zoom());
      if (isSmall) cy.nodes().style({ "font-size": font, "text-max-width": 11 * font });
      cy.nodes(".group").style("font-size", (1.3 * READABLE) / cy.zoom());
    };
    fit();
    new ResizeObserver(() => {
      cy.resize();
      fit();
    }).observe(cy.container());
    let waiting = 0;
    const names = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => untangle(cy), 80);
    };
    untangle(cy);
    cy.on("viewport select unselect free", names);
    choose(picture, cy);
    steer(picture, cy, fit);
    const hidden = data.all_links - data.links.length;
    const arranged = isSmall || data.grouped ? "" : "; by provider, as they are too many or too little related to arrange by relations";
    const [few, links] = [data.nodes.length, data.links.length];
    status.textContent = `${few} ${few === 1 ? "capability" : "capabilities"}, ${links} relation${links === 1 ? "" : "s"}${hidden ? `, ${hidden} weaker ones left out` : ""}${arranged}`;
    const repaint = () => cy.style(style(isSmall));
    document.addEventListener("themechange", repaint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    picture.dataset.drawn = "true";
    picture.cy = cy;
  };
  addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-graph]").forEach(draw));
})();

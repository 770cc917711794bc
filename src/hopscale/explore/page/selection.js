// What tells the nodes of a selection from the others.

import { count, short } from "./dom.js";
import { leading } from "./vectors.js";

/** Features that stand out among some nodes: as the graph has them, or as the vectors estimate them. */
export async function standingOut(rows, app, k) {
  if (!app.features.length || !rows.length) return { rows: [], note: "" };
  return app.membership ? counted(rows, app, k) : estimated(rows, app, k);
}

function counted(rows, app, k) {
  const { membership, facts } = app;
  const owners = new Uint32Array(app.features.length);
  for (const node of rows) for (const feature of membership.featuresOf(node)) owners[feature]++;
  const shares = Array.from(owners, (number, feature) => [
    number / rows.length,
    membership.nodesOf(feature).length / facts.nNodes,
  ]);
  // What a feature adds to the divergence of the selection from all nodes: it must be both frequent and unusual.
  const scores = shares.map(([own, all]) => (own > all ? own * Math.log(own / all) : 0));
  return {
    rows: leading(scores, k, (feature) => scores[feature] > 0).map(([feature, size]) => {
      const [own, all] = shares[feature];
      return { feature, size, text: `${short(100 * own)} % · ${short(own / all)}×` };
    }),
    note: `How many of the ${count(rows.length)} nodes have the feature, and how many times more often than all nodes.`,
  };
}

async function estimated(rows, app, k) {
  const { nodes, features } = await app.vectors();
  if (!features?.length) return { rows: [], note: "" };
  const scores = features.estimates(nodes.mean(rows), app.scale);
  const found = leading(scores, k, (feature) => scores[feature] > 0 && features.isKnown(feature, app.scale));
  return {
    rows: found.map(([feature, score]) => ({ feature, size: score, text: score.toFixed(3) })),
    note: "Products of the mean vector of the nodes with the vectors of features: estimates.",
  };
}

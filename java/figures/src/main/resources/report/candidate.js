// The page of one candidate: its verdict with all that is known.

byId("candidate").replaceChildren(panel(JSON.parse(byId("data").textContent)));

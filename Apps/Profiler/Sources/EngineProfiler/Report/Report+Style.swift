extension Report {
    /// The styles of the page: light and dark, for phones, desktops and paper.
    static let style: Markup = """
        :root { color-scheme: light dark;
          --page: #f6f7f9; --card: #ffffff; --ink: #171a21; --soft: #5d6675; --line: #e3e6ec; --grid: #eceef2;
          --warn: #8a5200; --warn-back: #fff4df; --accent: #2f5fd0;
          --c0: #2f6fe4; --c1: #e2762b; --c2: #14946f; --c3: #9a4fd0; --c4: #d23c72; --c5: #1191a8; --c6: #8a7a13;
            --c7: #6b7382; }
        @media (prefers-color-scheme: dark) { :root {
          --page: #101216; --card: #181b21; --ink: #eceff4; --soft: #9aa3b2; --line: #2a2f38; --grid: #252a32;
          --warn: #ffcf86; --warn-back: #33270f; --accent: #8fb1ff;
          --c0: #6a9cff; --c1: #ff9d5c; --c2: #3fcb9f; --c3: #c48bf2; --c4: #ff79a4; --c5: #4cc7dd; --c6: #d0bd4a;
            --c7: #a3abb9; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
        header, main, footer, nav.legend { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 56px; }
        .kicker { margin: 0; color: var(--accent); font-weight: 600; font-size: 14px; letter-spacing: .04em; }
        h1 { margin: 4px 0 8px; font-size: clamp(30px, 5vw, 46px); line-height: 1.1; letter-spacing: -.02em;
          overflow-wrap: anywhere; }
        h2 { margin: 0; font-size: 24px; letter-spacing: -.01em; }
        h3 { margin: 28px 0 8px; font-size: 16px; }
        small { color: var(--soft); font-weight: 400; font-size: 13px; }
        a { color: var(--accent); }
        .facts, .lead { color: var(--soft); }
        .facts { margin: 0 0 16px; }
        .lead { margin: 4px 0 18px; max-width: 84ch; text-wrap: pretty; }
        .note { margin: 0 0 8px; padding: 10px 14px; border-radius: 10px; background: var(--warn-back);
          color: var(--warn); font-size: 14px; }
        nav.legend { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 6px 20px;
          padding-top: 12px; padding-bottom: 12px; background: var(--page); }
        .chip { display: inline-flex; align-items: center; gap: 7px; font-weight: 500; overflow-wrap: anywhere; }
        .chip > i { width: 11px; height: 11px; border-radius: 3px; background: currentColor; color: var(--c);
          flex: none; }
        .chips { margin: 6px 0 0; display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px;
          font-variant-numeric: tabular-nums; }
        .chip .power { font-style: italic; } sup { line-height: 0; font-size: .8em; }
        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(240px, 100%), 1fr)); gap: 16px;
          margin: 12px 0 14px; }
        .card { background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--c);
          border-radius: 14px; padding: 16px 20px 14px; break-inside: avoid; }
        .card h2 { font-size: 19px; margin-bottom: 8px; overflow-wrap: anywhere; }
        .card p { display: flex; align-items: baseline; gap: 10px; margin: 3px 0; }
        .card b { min-width: 84px; font-size: 18px; font-variant-numeric: tabular-nums; letter-spacing: -.01em; }
        .card span { color: var(--soft); font-size: 14px; }
        section { margin: 28px 0 52px; }
        .panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 16px;
          align-items: start; }
        .columns { columns: 3 320px; column-gap: 16px; } .columns figure { margin-bottom: 16px; }
        figure { margin: 0; padding: 16px 18px; background: var(--card); border: 1px solid var(--line);
          border-radius: 14px; break-inside: avoid; }
        figcaption { display: flex; flex-direction: column; margin-bottom: 10px; }
        figcaption span { color: var(--soft); font-size: 13px; }
        svg { display: block; width: 100%; height: auto; overflow: visible; font-size: 11px; }
        .c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
        .c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
        .grid { stroke: var(--grid); stroke-width: 1; }
        text { fill: var(--soft); } .name { fill: var(--ink); } .value { font-variant-numeric: tabular-nums; }
        rect, circle { fill: var(--c); }
        .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
        .range { stroke: var(--c); stroke-width: 3; opacity: .45; } .end { stroke: var(--c); stroke-width: 2.5; }
        .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
        table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
        th, td { padding: 7px 14px; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
        thead th { border-top: 0; color: var(--soft); font-weight: 500; font-size: 13px; }
        th:first-child { text-align: left; font-weight: 500; }
        .glance th small { display: block; font-size: 12px; white-space: normal; }
        .glance td { font-size: 15px; } .best { font-weight: 700; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 5px 18px; margin: 0; font-size: 14px; }
        dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
        .prose { max-width: 76ch; margin: 0; padding-left: 20px; } .prose li { margin: 6px 0; }
        footer { padding-bottom: 48px; color: var(--soft); font-size: 14px; }
        @media (max-width: 600px) { header, main, footer, nav.legend { padding-left: 16px; padding-right: 16px; }
          header { padding-top: 32px; } figure { padding: 14px 12px; } th, td { padding: 7px 10px; } }
        @media print { :root { --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --grid: #ddd; }
          body { font-size: 11pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          .panels { grid-template-columns: 1fr 1fr; gap: 10px; }
          .cards { grid-template-columns: repeat(3, 1fr); gap: 10px; }
          .card { padding: 10px 12px; } .card b { min-width: 70px; font-size: 14px; } .card span { font-size: 11px; }
          tr { break-inside: avoid; } h2, h3, .lead { break-after: avoid; }
          nav.legend { position: static; } section { margin: 18px 0; } .scroll { overflow: visible; }
          th, td { padding: 3px 6px; font-size: 8.5pt; } }
        """
}

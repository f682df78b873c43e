//! How the page looks: light and dark by the reader's preference, one column on a phone, black on white on paper.

/// The page's own CSS; that of the charts is [`crate::chart::STYLE`].
pub(super) const PAGE: &str = "\
:root{color-scheme:light dark;--page:#f4f6f9;--card:#fff;--ink:#1b2330;--soft:#566172;--rule:#e3e7ee;--accent:#0067b1;\
--code:#f1f3f7;--shadow:0 1px 2px rgba(20,30,50,.06),0 4px 16px rgba(20,30,50,.05)}
@media screen and (prefers-color-scheme:dark){:root{--page:#0f1319;--card:#171c24;--ink:#e6eaf0;--soft:#a0abba;\
--rule:#2b333f;--accent:#62b0ff;--code:#212833;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);\
font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",sans-serif}
main{max-width:860px;margin:0 auto;padding:40px 20px 64px}
h1{font-size:2rem;line-height:1.15;letter-spacing:-.015em;margin:0;overflow-wrap:anywhere}
h2{font-size:1.16rem;line-height:1.3;letter-spacing:-.005em;margin:0 0 6px;overflow-wrap:anywhere}
header{margin-bottom:28px;padding-left:16px;border-left:4px solid var(--accent)}
header p{margin:6px 0 0;color:var(--soft);overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:0 0 20px}
.tile,section{background:var(--card);border:1px solid var(--rule);border-radius:12px;box-shadow:var(--shadow)}
.tile{padding:14px;display:flex;flex-direction:column}
.tile dt{color:var(--soft);font-size:.82rem}
.tile dd{margin:2px 0 0;overflow-wrap:anywhere}
.tile .figure{font-size:1.35rem;font-weight:650;line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tile .hint{color:var(--soft);font-size:.82rem;line-height:1.35;margin-top:4px}
section{padding:22px 26px 24px;margin:0 0 20px}
section p{margin:0 0 12px;max-width:68ch;overflow-wrap:anywhere}
figure{margin:14px 0 0}
svg.plot{display:block;width:100%;height:auto}
svg.plot.narrow{display:none}
figcaption{color:var(--soft);font-size:.86rem;line-height:1.45;margin-top:10px;overflow-wrap:anywhere}
figcaption b{font-weight:600;color:var(--ink)}
.scroll{overflow-x:auto;margin-top:16px}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:7px 12px;border-bottom:1px solid var(--rule);vertical-align:top}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
th{color:var(--soft);font-size:.82rem;font-weight:600;white-space:nowrap}
td{overflow-wrap:anywhere;min-width:9em}
td:first-child{min-width:11.5em}
tbody tr:last-child td{border-bottom:0}
th.number,td.number{text-align:right;white-space:nowrap;min-width:0}
.commands{list-style:none;margin:12px 0 0;padding:0;display:grid;gap:14px}
.commands span{display:block;color:var(--soft);font-size:.92rem;overflow-wrap:anywhere}
code{display:block;background:var(--code);border-radius:8px;padding:10px 14px;margin-top:4px;overflow-x:auto;white-space:pre;\
font:.9rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;user-select:all}
code::before{content:\"$ \";color:var(--soft);user-select:none}
details{margin-top:16px;border-top:1px solid var(--rule);padding-top:10px}
summary{color:var(--soft);font-size:.86rem;cursor:pointer}
details code{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.82rem}
@media screen and (max-width:600px){
main{padding:24px 12px 40px}
h1{font-size:1.55rem}
.tiles{grid-template-columns:1fr 1fr;gap:8px}
.tile{padding:12px}
.tile:last-child:nth-child(odd){grid-column:1/-1}
table{font-size:.86rem}
th,td{padding:7px 5px}
td,td:first-child{min-width:7em}
td.number,td.number:first-child{min-width:0}
section{padding:16px 14px 18px}
svg.plot.wide{display:none}
svg.plot.narrow{display:block}
code{white-space:pre-wrap;overflow-wrap:anywhere}
}
@media print{
body{background:#fff;font-size:11pt}
main{max-width:none;padding:0}
.tile,section{box-shadow:none;break-inside:avoid}
section{border:0;border-top:1px solid var(--rule);border-radius:0;padding:14px 0}
details::details-content{content-visibility:visible}
summary{list-style:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
";

//! The pages, embedded: hand-written, without framework, build step or anything from elsewhere.

use crate::answer::Answer;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! assets {
    ($($path:literal $kind:ident $file:literal)*) => {
        /// Path, type and text of everything.
        const ASSETS: &[(&str, &str, &str)] = &[$(($path, $kind, include_str!(concat!("../assets/", $file)))),*];
    };
}

assets! {
    "/" HTML "index.html"
    "/favicon.ico" SVG "icon.svg"
    "/assets/icon.svg" SVG "icon.svg"
    "/assets/console.css" CSS "console.css"
    "/assets/api.js" JS "api.js"
    "/assets/app.js" JS "app.js"
    "/assets/chart.js" JS "chart.js"
    "/assets/control.js" JS "control.js"
    "/assets/dom.js" JS "dom.js"
    "/assets/flow.js" JS "flow.js"
    "/assets/host.js" JS "host.js"
    "/assets/hosts.js" JS "hosts.js"
    "/assets/log.js" JS "log.js"
    "/assets/outcomes.js" JS "outcomes.js"
    "/assets/overview.js" JS "overview.js"
    "/assets/url.js" JS "url.js"
}

/// What lies at a path.
pub(crate) fn find(path: &str) -> Option<Answer> {
    let (_, kind, text) = ASSETS.iter().find(|(known, ..)| *known == path)?;
    Some(Answer::new(kind, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_put_into_pages_as_markup() {
        let ways = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
            "DOMParser",
            "createContextualFragment",
            "setHTML",
            "javascript:",
            "setTimeout(\"",
            "allow-",
        ];
        for (path, _, text) in ASSETS.iter().filter(|(_, kind, _)| *kind == JS) {
            for way in ways {
                // A comment may say what is not done.
                let line =
                    text.lines().find(|line| line.contains(way) && !line.trim_start().starts_with("//"));
                assert_eq!(line, None, "{path} uses {way}");
            }
        }
    }

    #[test]
    fn what_does_not_show_is_named() {
        let mut places = 0;
        for (path, _, text) in ASSETS.iter().filter(|(_, kind, _)| *kind == JS) {
            for line in text.lines() {
                for way in [".textContent = ", ".title = ", "createTextNode("] {
                    let Some((_, what)) = line.split_once(way) else { continue };
                    places += 1;
                    assert!(what.starts_with("shown(") || what.starts_with('"'), "{path}: {line}");
                }
            }
        }
        assert!(places >= 10, "the pages are written in another way now, which this test does not see");
        let style = ASSETS.iter().find(|(path, ..)| *path == "/assets/console.css").unwrap().2;
        assert!(style.contains("unicode-bidi: isolate"), "a direction of writing reaches into other text");
    }

    #[test]
    fn pages_hold_no_inline_code_and_nothing_from_elsewhere() {
        for (path, kind, text) in ASSETS {
            let allowed = ["http://www.w3.org/2000/svg", "http://example.com/page"];
            let stripped = allowed.iter().fold((*text).to_owned(), |text, known| text.replace(known, ""));
            for foreign in ["http://", "https://", "//cdn", "url(", "@import"] {
                let found = stripped.lines().find(|line| line.contains(foreign) && !line.contains("https?:"));
                assert_eq!(found, None, "{path} names {foreign}");
            }
            if *kind == HTML {
                assert!(
                    !text.contains("style=") && !text.contains(" on") && !text.contains("<style"),
                    "{path}"
                );
                assert_eq!(
                    text.matches("<script").count(),
                    text.matches("<script type=\"module\" src=\"/assets/").count()
                );
            }
        }
    }

    #[test]
    fn every_module_that_is_imported_is_served() {
        for (path, _, text) in ASSETS.iter().filter(|(_, kind, _)| *kind == JS) {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let file =
                    line.split('"').nth(1).and_then(|name| name.strip_prefix("./")).unwrap_or_default();
                assert!(find(&format!("/assets/{file}")).is_some(), "{path}: {line}");
            }
        }
    }
}

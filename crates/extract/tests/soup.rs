//! Random markup, built from pieces whose reading does not depend on the tree: the scanner must agree with the full parser on every link.

use mattock_extract::{Options, extract};
use proptest::prelude::*;

use crate::oracle;

const PIECES: [&str; 56] = [
    "<a href=",
    "<a href=\"",
    "<a href='",
    "<a ",
    "href=x",
    "\"",
    "'",
    ">",
    "/>",
    "=",
    " ",
    "/",
    "y",
    "z",
    "<",
    "</",
    "</a>",
    "<!--",
    "-->",
    "--!>",
    "--",
    "->",
    "!",
    "<!",
    "<?",
    "<!doctype ",
    "<![CDATA[",
    "]]>",
    "<script>",
    "</script>",
    "<script ",
    "</script ",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<noscript>",
    "</noscript>",
    "<noembed>",
    "</noembed>",
    "<noframes>",
    "</noframes>",
    "&amp;",
    "&lt",
    "&copy",
    "&#x41",
    "\n",
    "\t",
    "<plaintext>",
    "<A HREF=q>",
];

/// SVG and MathML; without the end tags of HTML and the elements with HTML inside, whose effect depends on what else is open.
const FOREIGN: [&str; 15] = [
    "<svg>",
    "</svg>",
    "<svg/>",
    "<math>",
    "</math>",
    "<desc/>",
    "<g>",
    "<div>",
    "<b>",
    "<![CDATA[",
    "]]>",
    "<style>",
    "<script>",
    "<mi/>",
    "<path",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6_000))]

    #[test]
    fn agrees_with_the_full_parser(choice in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let pieces: String = choice.into_iter().map(|piece| PIECES[piece]).collect();
        agree(&pieces)?;
    }

    #[test]
    fn agrees_in_foreign_content(choice in proptest::collection::vec(0..FOREIGN.len(), 0..12)) {
        // A link after every piece shows how it left the parser.
        let pieces: String = choice.into_iter().enumerate().map(|(at, piece)| format!("{}<a href={at}>", FOREIGN[piece])).collect();
        agree(&pieces)?;
    }
}

fn agree(pieces: &str) -> Result<(), TestCaseError> {
    // A body, so that everything stands where it may.
    let html = format!("<body>{pieces}");
    let options = Options { embeds: true, forms: true, ..Options::default() };
    let found = extract(html.as_bytes(), Some("text/html; charset=utf-8"), &options);
    let ours: oracle::Links = found.links.into_iter().map(|link| (link.kind, link.target)).collect();
    prop_assert_eq!(ours, oracle::links(&html), "{}", html);
    Ok(())
}

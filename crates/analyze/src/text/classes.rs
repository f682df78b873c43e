//! What the words of `class`, `id` and their like give away about an element.
//!
//! Names are cut into words at everything that is no letter, and where a small letter is followed by a capital. A word is compared whole, and by its
//! beginning or end for the stems that sites glue to others (`navbar`, `topnav`, `commentlist`).

/// What a name says, as bits.
pub(crate) type Hints = u16;

/// Navigation, small print, controls.
pub(crate) const CHROME: Hints = 1;
/// Teasers for other pages.
pub(crate) const TEASER: Hints = 2;
/// What readers said.
pub(crate) const COMMENT: Hints = 4;
/// Advertisements.
pub(crate) const ADVERT: Hints = 8;
/// Sharing, following, subscribing.
pub(crate) const SOCIAL: Hints = 16;
/// The text itself.
pub(crate) const BODY: Hints = 32;
/// The element says that it is not shown.
pub(crate) const HIDDEN: Hints = 64;
/// The page's main part.
pub(crate) const MAIN: Hints = 128;
/// What surrounds the text of an article: date, author, labels.
pub(crate) const BYLINE: Hints = 256;

/// The element's role is the page's main part: said to readers' tools, and meant.
pub(crate) const MAIN_ROLE: Hints = 512;

/// Beside the text, and never a part of it: sidebars, notices about cookies.
pub(crate) const SIDE: Hints = 2048;

/// What one reader wrote, in a forum.
pub(crate) const POST: Hints = 1024;

/// All that speak against an element.
pub(crate) const AGAINST: Hints = CHROME | TEASER | COMMENT | ADVERT | SOCIAL | HIDDEN | BYLINE;

/// Names longer than this are generated.
const NAME_BYTES_MAX: usize = 512;

/// Values that were read last, with their hints: most stand in a page again and again.
pub(crate) struct Known<'a>([(&'a [u8], Hints); KNOWN]);

const KNOWN: usize = 128;

impl<'a> Known<'a> {
    pub(crate) fn new() -> Known<'a> {
        Known([(b"", 0); KNOWN])
    }

    /// The hints of one attribute's value.
    pub(crate) fn hints(&mut self, value: &'a [u8]) -> Hints {
        let Some(&last) = value.last() else { return 0 };
        let middle = value[value.len() / 2];
        let place = value.len().wrapping_mul(37) ^ usize::from(middle).wrapping_mul(11) ^ usize::from(last);
        let known = &mut self.0[place % KNOWN];
        if known.0 != value {
            *known = (value, hints(value));
        }
        known.1
    }
}

/// The hints of one attribute's value.
pub(crate) fn hints(value: &[u8]) -> Hints {
    let mut found = 0;
    let mut word = [0u8; 16];
    let mut length = 0;
    let mut before = [0u8; 16];
    let mut before_length = 0;
    let mut was_lower = false;
    // In this name, before the one that is read.
    let mut words = 0;
    let value = &value[..value.len().min(NAME_BYTES_MAX)];
    for at in 0..=value.len() {
        let byte = value.get(at).copied().unwrap_or(b' ');
        let ends = !byte.is_ascii_alphabetic() || (was_lower && byte.is_ascii_uppercase());
        if ends && length > 0 {
            let this = &word[..length.min(16)];
            if length <= 16 {
                let before = &before[..before_length];
                found |= of_word(this) | of_pair(before, this);
                // Much is named after what it hides, or where: `overflow-hidden`, `hide-when-deleted`, `hidden-xs`.
                if byte.is_ascii_whitespace() && words < 2 {
                    found |= of_whole(before, this);
                }
            }
            before = word;
            before_length = length.min(16);
            length = 0;
            words += 1;
        }
        if byte.is_ascii_alphabetic() {
            if length < 16 {
                word[length] = byte.to_ascii_lowercase();
            }
            length += 1;
        } else if byte.is_ascii_whitespace() {
            before_length = 0;
            words = 0;
        }
        was_lower = byte.is_ascii_lowercase();
    }
    found
}

fn of_word(word: &[u8]) -> Hints {
    match word {
        b"nav" | b"navi" | b"menu" | b"menus" | b"footer" | b"foot" | b"breadcrumb" | b"breadcrumbs"
        | b"crumbs" | b"pager" | b"pagination" | b"paging" | b"toolbar" | b"masthead" | b"login"
        | b"signin" | b"signup" | b"copyright" | b"skip" | b"dropdown" | b"popup" | b"modal" | b"overlay"
        | b"lightbox" | b"tooltip" | b"banner" | b"navigation" | b"navbar" | b"navbox" | b"legal"
        | b"catlinks" | b"printfooter" | b"disclaimer" | b"paywall" | b"backlink" | b"contentinfo"
        | b"navheader" | b"navfooter" | b"controls" | b"minicart" => CHROME,
        b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"sidebar" | b"sidenav" | b"rightcol"
        | b"rightcolumn" | b"rail" | b"complementary" | b"sphinxsidebar" => CHROME | SIDE,
        b"related" | b"recommended" | b"recommend" | b"recommendations" | b"recirc" | b"trending"
        | b"popular" | b"readmore" | b"mostread" | b"teaser" | b"teasers" | b"seealso" | b"morefrom"
        | b"latest" | b"outbrain" | b"taboola" | b"zergnet" | b"recommendation" | b"upnext" | b"playlist"
        | b"carousel" | b"upsell" | b"upsells" | b"crosssell" | b"crosssells" => TEASER,
        b"comment" | b"comments" | b"commentlist" | b"disqus" | b"respond" | b"replies" | b"livefyre"
        | b"reviews" | b"kommentare" | b"commentaires" | b"comentarios" | b"trackback" | b"trackbacks" => {
            COMMENT
        }
        b"ad" | b"ads" | b"advert" | b"advertisement" | b"advertising" | b"adsense" | b"sponsor"
        | b"sponsored" | b"sponsors" | b"anzeige" | b"adbox" | b"adslot" | b"werbung" | b"publicidad" => {
            ADVERT
        }
        b"share" | b"sharing" | b"sharebar" | b"shares" | b"social" | b"socials" | b"newsletter"
        | b"subscribe" | b"subscription" | b"follow" | b"addthis" | b"sharethis" | b"sharedaddy"
        | b"likes" | b"twitter" | b"facebook" | b"rss" | b"donate" | b"print" | b"email" | b"whatsapp"
        | b"pinterest" | b"linkedin" => SOCIAL,
        b"byline" | b"dateline" | b"tags" | b"taglist" | b"timestamp" | b"pubdate" | b"postmeta"
        | b"entrymeta" | b"authorbox" | b"keywords" => BYLINE,
        b"postbody" | b"postcontent" | b"posttext" => BODY | POST,
        b"articlebody" | b"storybody" | b"entrytext" | b"storytext" | b"articletext" | b"storycontent"
        | b"entrycontent" | b"articlecontent" | b"hentry" | b"bodytext" => BODY,
        b"main" | b"maincontent" | b"content" | b"contents" | b"article" => MAIN,
        b"editsection" | b"headerlink" => HIDDEN,
        _ => of_stem(word),
    }
}

/// Of a whole name: this word alone, or with a short one before it that is no size of screens.
fn of_whole(before: &[u8], word: &[u8]) -> Hints {
    match (before, word) {
        (b"xs" | b"sm" | b"md" | b"lg" | b"xl", _) => 0,
        (_, b"hidden" | b"hide" | b"invisible") if before.len() <= 3 => HIDDEN,
        (b"d" | b"display", b"none") => HIDDEN,
        (b"", b"noprint" | b"noshow") => HIDDEN,
        _ => 0,
    }
}

fn of_stem(word: &[u8]) -> Hints {
    const STARTS: [(&[u8], Hints); 21] = [
        (b"navig", CHROME),
        (b"sidebar", CHROME | SIDE),
        (b"footer", CHROME),
        (b"breadcrumb", CHROME),
        (b"cookie", CHROME | SIDE),
        (b"navbar", CHROME),
        (b"pagination", CHROME),
        (b"comment", COMMENT),
        (b"disqus", COMMENT),
        (b"related", TEASER),
        (b"recommend", TEASER),
        (b"outbrain", TEASER),
        (b"taboola", TEASER),
        (b"mostpopular", TEASER),
        (b"advert", ADVERT),
        (b"sponsor", ADVERT),
        (b"newsletter", SOCIAL),
        (b"social", SOCIAL),
        (b"sharing", SOCIAL),
        (b"subscri", SOCIAL),
        (b"socialshare", SOCIAL),
    ];
    const ENDS: [(&[u8], Hints); 10] = [
        (b"nav", CHROME),
        (b"navigation", CHROME),
        (b"menu", CHROME),
        (b"sidebar", CHROME | SIDE),
        (b"footer", CHROME),
        (b"breadcrumbs", CHROME),
        (b"comments", COMMENT),
        (b"teaser", TEASER),
        (b"share", SOCIAL),
        (b"articlebody", BODY),
    ];
    if word.len() < 5 {
        return 0;
    }
    let starts = STARTS.iter().filter(|(stem, _)| word.starts_with(stem));
    let ends = ENDS.iter().filter(|(stem, _)| word.ends_with(stem));
    starts.chain(ends).fold(0, |all, (_, hint)| all | hint)
}

/// Two words after each other within one name.
fn of_pair(first: &[u8], second: &[u8]) -> Hints {
    match (first, second) {
        (b"post", b"body" | b"content" | b"text" | b"copy") => BODY | POST,
        (b"post", b"main") => BODY,
        (b"post", b"message") | (b"message" | b"reply", b"body" | b"content" | b"text") => POST,
        (
            b"article" | b"story" | b"entry" | b"news" | b"blog",
            b"body" | b"content" | b"text" | b"main" | b"copy",
        )
        | (b"content" | b"body", b"body" | b"text" | b"copy")
        | (b"rich" | b"markdown" | b"main", b"text" | b"body") => BODY,
        (b"main" | b"page" | b"site" | b"primary", b"content") | (b"content", b"main" | b"area") => MAIN,
        (
            b"read" | b"see" | b"more" | b"you",
            b"next" | b"also" | b"more" | b"from" | b"stories" | b"like",
        )
        | (b"most", b"read" | b"viewed" | b"shared" | b"recent")
        | (b"also", b"read" | b"like" | b"bought" | b"viewed")
        | (b"recently", b"viewed")
        | (b"similar", b"products" | b"items" | b"topics" | b"threads" | b"posts")
        | (b"cross", b"sell" | b"selling" | b"sells") => TEASER,
        (b"left", b"bar" | b"rail" | b"side")
        | (b"side" | b"right", b"bar" | b"rail" | b"col" | b"column" | b"side") => CHROME | SIDE,
        (b"site" | b"page" | b"global" | b"top", b"header")
        | (b"shopping" | b"mini" | b"layer" | b"block" | b"top" | b"header", b"cart" | b"basket" | b"bag") => {
            CHROME
        }
        (
            b"post" | b"entry" | b"article" | b"story",
            b"meta" | b"tags" | b"date" | b"author" | b"byline" | b"info" | b"footer",
        ) => BYLINE,
        (b"author", b"bio" | b"box" | b"info") => BYLINE,
        (b"customer" | b"cust" | b"product" | b"user" | b"write" | b"add" | b"tab" | b"tabs", b"review") => {
            COMMENT
        }
        (b"screen", b"reader") | (b"sr", b"only") | (b"visually", b"hidden") => HIDDEN,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expected) in [
            ("sidebar", CHROME | SIDE),
            ("leftSidebar x", CHROME | SIDE),
            ("cookie-consent", CHROME | SIDE),
            ("topnav", CHROME),
            ("article-body", BODY | MAIN),
            ("articleBody", BODY | MAIN),
            ("shadow headline", 0),
            ("comment-list", COMMENT),
            ("Most_Read", TEASER),
            ("most read", 0),
            ("", 0),
            ("aVeryLongNameWithoutAnyMeaningToAnybody", 0),
            ("is-hidden", HIDDEN),
            ("hidden", HIDDEN),
            ("col-sm-6 hidden-xs", 0),
            ("hide-for-small", 0),
            ("overflow-hidden", 0),
            ("overflow-x-hidden", 0),
            ("hide-when-deleted", 0),
            ("hide-last-connector", 0),
            ("md:hidden", 0),
            ("js-hidden a", HIDDEN),
            ("boxHide", HIDDEN),
            ("a hide", HIDDEN),
            ("d-none", HIDDEN),
            ("flex d-md-none", 0),
            ("visually-hidden", HIDDEN),
            ("hidden hidden-xs", HIDDEN),
            ("field-label-hidden", 0),
            ("page-widget", 0),
            ("customers-also-bought", TEASER),
            ("similar_topics", TEASER),
            ("left-bar", CHROME | SIDE),
            ("left-column", 0),
            ("layer_cart", CHROME),
            ("add-to-cart", 0),
            ("promo-section", 0),
            ("commercial-services", 0),
            ("advertisement", ADVERT),
            ("product-reviews", COMMENT),
            ("review", 0),
            ("custReview", COMMENT),
            ("post_message_705474", POST),
            ("postbody", BODY | POST),
        ] {
            assert_eq!(hints(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn values_that_are_known_have_the_same_hints() {
        let words =
            ["nav", "hidden", "article-body", "x", "", "teaser", "col-md-6", "promo ad", "footer menu"];
        let values: Vec<String> = words
            .iter()
            .flat_map(|one| words.iter().map(move |other| format!("{one}{other} {one}")))
            .cycle()
            .take(1000)
            .collect();
        let mut known = Known::new();
        for value in &values {
            assert_eq!(known.hints(value.as_bytes()), hints(value.as_bytes()), "{value}");
        }
    }
}

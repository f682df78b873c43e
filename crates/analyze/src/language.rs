//! The language of a text, as ISO 639-3 has it; macrolanguages where Common Crawl's `content_languages` has them (`zho`, `msa`, `nor`).
//!
//! 0. Names of programs and machines (`getSheets`, `com.sun.star`) are left out: they are in no language, and manuals are full of them.
//! 1. The script: letters are counted by `script`. Most scripts belong to one language, and that is the answer. Latin letters count less than others:
//!    pages in all languages quote Latin words, and hardly any page does the opposite.
//! 2. Within Latin, Cyrillic, Arabic, Devanagari and a few others, `model` says what each piece of [`PIECE_LETTERS`] letters or so costs
//!    in each language, by its pairs and triples of letters, and `near` adds words that tell near languages apart. Pieces that are
//!    English are put aside, since manuals, shops and newspapers of all languages have such pieces. If the rest is too small, the text is
//!    English, and so it is if the rest is the smaller part and nearly as cheap in English; otherwise the language with the least cost over the rest is the answer.
//! 3. What the page says of itself (`<html lang>`) is a hint, worth a few letters of evidence, and the answer for texts that are too short to tell.
//!
//! Costs: some thirty microseconds for each kilobyte, of at most [`TEXT_BYTES_MAX`] bytes. The model is 800 kB of the program; where it
//! comes from is said in `bench/train_language.py`.

mod codes;
mod model;
mod near;
mod script;

use std::collections::BTreeSet;

use model::{Costs, Model};
use script::{Script, Scripts};

/// What is looked at of a text: more does not make it clearer.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Letters in a piece; a piece ends with a word.
const PIECE_LETTERS: usize = 120;
/// Fewer letters say nothing.
const LETTERS_MIN: usize = 12;
/// With fewer letters the page's own word counts.
const HINTED_LETTERS: usize = 60;
/// The rest is the language of the page if it is this part of the English pieces.
const REST_SHARE: f32 = 0.3;
/// And if it is the smaller part, it has to be that much cheaper in its language than in English: one piece in strange words is no other language.
const REST_CHEAPER: u32 = 15 * model::STEPS;
/// A language is named beside the first if it has this part of the letters.
const SECOND_SHARE: f32 = 0.25;

/// The languages of a text, the main one first, at most three. `hint` is what the page says: `de-AT`.
pub(crate) fn languages(text: &str, hint: Option<&str>) -> Vec<&'static str> {
    languages_of(text, hint, usize::MAX)
}

/// The same, but if the first `enough` pieces are all in one language, no more are looked at.
pub(crate) fn languages_of(text: &str, hint: Option<&str>, enough: usize) -> Vec<&'static str> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let hint = hint.and_then(codes::of_tag);
    let words = without_names(text).map(|words| (Scripts::of(&words), words));
    // Nothing but names: better than no answer.
    let words = words.filter(|(scripts, _)| scripts.letters() >= LETTERS_MIN);
    let (scripts, text) = match &words {
        Some((scripts, words)) => (scripts, &words[..]),
        None => (&Scripts::of(text), text),
    };
    let letters = scripts.letters();
    let Some(script) = scripts.main().filter(|_| letters >= LETTERS_MIN) else {
        return Vec::new();
    };
    if letters < HINTED_LETTERS
        && let Some(hint) = hint.filter(|hint| script.may_be(hint))
    {
        return vec![hint];
    }
    let mut found = match script.only_language() {
        Some(language) => vec![(language, scripts.count(script))],
        None => of_model(text, script, hint, enough),
    };
    if script != Script::Latin && scripts.count(Script::Latin) as f32 > SECOND_SHARE * letters as f32 {
        found.extend(of_model(text, Script::Latin, None, enough).into_iter().take(1));
    }
    let mut languages: Vec<&'static str> = Vec::new();
    for (language, _) in found.into_iter().filter(|(_, own)| *own as f32 > SECOND_SHARE * letters as f32) {
        if !languages.contains(&language) && languages.len() < 3 {
            languages.push(language);
        }
    }
    languages
}

/// All languages that can be an answer, by their codes.
pub fn known() -> BTreeSet<&'static str> {
    let of_model = |script| Model::of(script).map_or(&[][..], Model::languages);
    script::ALL
        .into_iter()
        .flat_map(|script| script.only_language().into_iter().chain(of_model(script).iter().copied()))
        .collect()
}

/// The languages of the words in one script, and their letters: the main one, then the one that was put aside.
fn of_model(
    text: &str,
    script: Script,
    hint: Option<&'static str>,
    enough: usize,
) -> Vec<(&'static str, usize)> {
    let Some(model) = Model::of(script) else { return Vec::new() };
    let english = model.place("eng");
    let mut rest = Costs::new(model, hint);
    let mut aside = Costs::new(model, None);
    let mut piece = Costs::new(model, hint);
    let mut word: Vec<u32> = vec![u32::from(' ')];
    let (mut pieces, mut first, mut alike) = (0, None, true);
    for character in text.chars().chain([' ']) {
        if Script::of(character) == Some(script) || (script::is_mark(character) && word.len() > 1) {
            word.extend(character.to_lowercase().map(u32::from));
            continue;
        }
        if word.len() > 1 {
            word.push(u32::from(' '));
            piece.word(&word);
            word.truncate(1);
            if piece.letters() >= PIECE_LETTERS {
                let best = settle(&mut piece, english, &mut rest, &mut aside);
                alike &= best == *first.get_or_insert(best);
                pieces += 1;
                if alike && pieces == enough {
                    // All of the text counts as that.
                    return best.map(|best| (model.language(best), text.len())).into_iter().collect();
                }
            }
        }
    }
    // A short end is only asked if there is nothing else.
    if piece.letters() * 3 >= PIECE_LETTERS || rest.letters() + aside.letters() == 0 {
        settle(&mut piece, english, &mut rest, &mut aside);
    }
    let mut found = Vec::new();
    if let Some(best) = rest.best() {
        found.push((model.language(best), rest.letters()));
    }
    if aside.letters() > 0 {
        found.push(("eng", aside.letters()));
    }
    let is_small = (rest.letters() as f32) < REST_SHARE * aside.letters() as f32;
    let is_near = english.is_some_and(|english| rest.cheaper_by(english) < REST_CHEAPER);
    if is_small || (is_near && rest.letters() < aside.letters()) {
        found.reverse();
    }
    found
}

/// The text without names; `None` if it has none.
fn without_names(text: &str) -> Option<String> {
    let mut words: Option<String> = None;
    let mut end = 0;
    for token in text.split_ascii_whitespace() {
        let begin = token.as_ptr().addr() - text.as_ptr().addr();
        if is_name(token) {
            words.get_or_insert_with(|| String::with_capacity(text.len())).push_str(&text[end..begin]);
            end = begin + token.len();
        }
    }
    words.map(|mut words| {
        words.push_str(&text[end..]);
        words
    })
}

/// Whether it is a name that a program or a machine has: `getSheets`, `sheet_one`, `com.sun.star`. Whole sentences in scripts without blanks
/// are tokens, too, and have such names in them (`iPhone`): those are none.
fn is_name(token: &str) -> bool {
    if !token.is_ascii() {
        return false;
    }
    let (mut before_last, mut last) = (b' ', b' ');
    for byte in token.bytes() {
        if last.is_ascii_lowercase() && byte.is_ascii_uppercase() {
            return true;
        }
        if matches!(last, b'.' | b'_') && before_last.is_ascii_alphabetic() && byte.is_ascii_alphabetic() {
            return true;
        }
        (before_last, last) = (last, byte);
    }
    false
}

/// Counts a piece with the English ones or with the rest, and empties it. What it is most likely in.
fn settle(
    piece: &mut Costs<'_>,
    english: Option<usize>,
    rest: &mut Costs<'_>,
    aside: &mut Costs<'_>,
) -> Option<usize> {
    let best = piece.best();
    let is_english = english.is_some() && best == english;
    if is_english {
        aside.add(piece);
    } else {
        rest.add(piece);
    }
    piece.clear();
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn language(text: &str) -> &'static str {
        languages(text, None).first().copied().unwrap_or("")
    }

    /// Own sentences, in the words of everyday life.
    const SENTENCES: [(&str, &str); 30] = [
        ("eng", "Yesterday we went down to the harbour and watched the boats come in before it got dark."),
        (
            "deu",
            "Gestern gingen wir zum Hafen hinunter und sahen zu, wie die Schiffe hereinkamen, bevor es dunkel wurde.",
        ),
        (
            "fra",
            "Hier nous sommes descendus au port et nous avons regardé les bateaux rentrer avant la nuit.",
        ),
        ("spa", "Ayer bajamos al puerto y vimos cómo llegaban los barcos antes de que se hiciera de noche."),
        (
            "ita",
            "Ieri siamo scesi al porto e abbiamo guardato le barche che rientravano prima che facesse buio.",
        ),
        (
            "por",
            "Ontem descemos ao porto e vimos os barcos chegarem antes que ficasse escuro, e não havia ninguém.",
        ),
        (
            "nld",
            "Gisteren gingen we naar de haven en zagen we hoe de boten binnenkwamen voordat het donker werd.",
        ),
        ("pol", "Wczoraj poszliśmy do portu i patrzyliśmy, jak łodzie wracają, zanim zrobiło się ciemno."),
        ("ces", "Včera jsme šli dolů do přístavu a dívali se, jak lodě připlouvají, než se setmělo."),
        ("swe", "Igår gick vi ner till hamnen och såg hur båtarna kom in innan det blev mörkt ute."),
        ("dan", "I går gik vi ned til havnen og så bådene komme ind, før det blev mørkt udenfor igen."),
        ("fin", "Eilen menimme satamaan ja katselimme, kuinka veneet palasivat ennen kuin tuli pimeä."),
        ("hun", "Tegnap lementünk a kikötőbe, és néztük, ahogy a hajók beérkeznek, mielőtt besötétedett."),
        ("tur", "Dün limana indik ve hava kararmadan önce teknelerin gelişini izledik, sonra eve döndük."),
        ("ron", "Ieri am coborât în port și am privit cum se întorc bărcile înainte să se întunece."),
        ("vie", "Hôm qua chúng tôi đi xuống bến cảng và xem những chiếc thuyền vào trước khi trời tối."),
        (
            "ind",
            "Kemarin kami pergi ke pelabuhan dan melihat perahu-perahu datang sebelum hari menjadi gelap.",
        ),
        ("cat", "Ahir vam baixar al port i vam mirar com arribaven les barques abans que es fes fosc."),
        ("rus", "Вчера мы спустились в гавань и смотрели, как приходят лодки, пока не стемнело."),
        ("ukr", "Учора ми спустилися до гавані й дивилися, як повертаються човни, поки не стемніло."),
        ("bul", "Вчера слязохме до пристанището и гледахме как лодките се прибират, преди да се стъмни."),
        ("ell", "Χθες κατεβήκαμε στο λιμάνι και είδαμε τις βάρκες να έρχονται πριν σκοτεινιάσει."),
        ("ara", "نزلنا أمس إلى الميناء وشاهدنا القوارب وهي تعود قبل أن يحل الظلام على المدينة."),
        ("fas", "دیروز به بندر رفتیم و قایق‌ها را تماشا کردیم که پیش از تاریک شدن هوا برمی‌گشتند."),
        ("heb", "אתמול ירדנו לנמל וצפינו בסירות הנכנסות לפני שהחשיך, ואחר כך חזרנו הביתה."),
        ("hin", "कल हम बंदरगाह गए और अंधेरा होने से पहले नावों को आते हुए देखा।"),
        ("jpn", "昨日、私たちは港に下りて、暗くなる前に船が入ってくるのを見ました。"),
        ("zho", "昨天我们去了港口，在天黑之前看着船只陆续回来，然后才回家。"),
        ("kor", "어제 우리는 항구로 내려가서 어두워지기 전에 배들이 들어오는 것을 보았다."),
        ("tha", "เมื่อวานเราลงไปที่ท่าเรือและดูเรือเข้ามาก่อนที่จะมืด"),
    ];

    #[test]
    fn sentences() {
        for (code, sentence) in SENTENCES {
            let found = language(sentence);
            // Indonesian is a form of Malay: one sentence may be both.
            let is_malay = code == "ind" && found == "msa";
            assert!(found == code || is_malay, "{found}: {sentence}");
        }
    }

    /// Own sentences, which letters alone put into the nearest language: the words in `near` decide.
    const NEAR: [(&str, &str); 13] = [
        (
            "hrv",
            "Vlak za Beograd, Novi Sad i Suboticu kasni, jer se pruga kod Stare Pazove obnavlja do listopada.",
        ),
        ("srp", "Deo grada je bez struje, a primer za to je ulica u kojoj je ceo sat bio mrak."),
        ("bos", "Tačno prije dvije godine, u novembru, u općini je lahko dogovorena saradnja sa susjedima."),
        ("dan", "Ole Gunnar Solskjær blev nogle dage i Trondheim efter kampen mod Rosenborg."),
        ("nor", "Aalborg ble slått av Brøndby i København."),
        ("nno", "Det er ein bil utan hjul i hagen til naboen."),
        ("nno", "Vi kjem heim i morgon og tek bussen til byen."),
        ("ind", "Beberapa menit lagi mereka tiba di bagian selatan."),
        ("msa", "Dia membaca jawapan itu sahaja, iaitu yang ditulis oleh ibunya."),
        ("msa", "Mereka pulang selepas beberapa minit kerana rumah itu dekat sahaja."),
        ("glg", "Na súa biblioteca hai libros de Luís de Camões, Fernando Pessoa e José Saramago."),
        ("por", "Rosalía de Castro viveu em Padrón, perto de Santiago de Compostela."),
        ("spa", "Fue en Santiago de Compostela, en la praza do Obradoiro, donde se encontraron."),
    ];

    /// And others with words that look like those of the nearest language but are at home in both: `kun`, `kereta`, `pelo`.
    const SHARED: [(&str, &str); 15] = [
        (
            "nor",
            "Kun for medlemmer. Du kan kun bestille ett rom om gangen, og det er meget viktig å betale i tide.",
        ),
        (
            "dan",
            "Begge børn havde gjort det godt i skolen, og de ville bare nå toget hjem, inden det blev aften.",
        ),
        ("nno", "Han har gjort det fordi han også likar det veldig godt, og etterpå har han blitt med heim."),
        ("hrv", "Neko vrijeme smo čekali, a onda je svako dijete dobilo jabuku i čašu soka."),
        ("hrv", "Marta i Maja čekale su vlak, a knjiga kaže da su ruža i jabuka ista biljna porodica."),
        ("ind", "Rangkaian kereta itu berhenti di stasiun, lalu para penumpang turun untuk membeli makanan."),
        (
            "ind",
            "Awak kapal menunggu di kilang minyak, sedangkan paparan polis asuransi itu dibaca sila demi sila.",
        ),
        (
            "msa",
            "Bandar itu mempunyai kota lama, dan layar kapal boleh dilihat dari jauh selepas hujan berhenti.",
        ),
        (
            "msa",
            "Sila daftar nama anda di kaunter, kemudian tunggu beberapa detik sebelum masuk ke bilik itu.",
        ),
        (
            "spa",
            "Este champú sirve para pelo seco, pelo graso y pelo teñido, y os lo enviamos a casa sin gastos.",
        ),
        ("spa", "El champú para pelo seco y el de pelo graso, en la tienda de casa.com."),
        ("glg", "El díxome que o libro era del, pero ninguén o creu ata que apareceu o seu nome."),
        ("nld", "Wees lief voor je oor en sluit de deur, want in mei waait het hier nog hard."),
        ("afr", "Ek het een vriend wat aan die see woon, en hy het ook geen geld vir brood nie."),
        ("fry", "Ik ha it mei myn suster oer de mar, en fan dy dei ôf sitte wy jûns by de kachel."),
    ];

    #[test]
    fn near_languages() {
        for (code, sentence) in NEAR.into_iter().chain(SHARED) {
            assert_eq!(language(sentence), code, "{sentence}");
        }
    }

    #[test]
    fn what_is_known() {
        let known = known();
        assert!(SENTENCES.iter().chain(&NEAR).all(|(code, _)| known.contains(code)));
        assert!(!known.contains("tlh"));
    }

    #[test]
    fn mixtures() {
        let sentence = |code: &str| SENTENCES.iter().find(|(known, _)| *known == code).unwrap().1;
        let (english, german, greek) = (sentence("eng"), sentence("deu"), sentence("ell"));
        let quoting = format!("{german} {german} {english}");
        assert_eq!(languages(&quoting, None), ["deu", "eng"]);
        assert_eq!(language(&format!("{english} {english} {german} {german}")), "deu");
        assert_eq!(language(&format!("{greek} {english}")), "ell");
        assert_eq!(language(&format!("{}{german}", english.repeat(20))), "eng");
    }

    #[test]
    fn names() {
        for name in
            ["getSheets", "oDoc.getSheets(0)", "my_sheet", "com.sun.star.frame", "www.mattock.example"]
        {
            assert!(is_name(name), "{name}");
        }
        for word in
            ["Blatt", "BASIC", "z. B.", "1.5", "d'été", "und/oder", "Über_", ".com", "A4", "我的iPhone不见了"]
        {
            assert!(!word.split(' ').any(is_name), "{word}");
        }
        let (_, german) = SENTENCES[1];
        let call = "oSheet = thisComponent.getSheets().getByName(sheet_name) ";
        assert_eq!(languages(&format!("{} {german}", call.repeat(9)), None), ["deu"]);
        // Nothing but names: better than no answer.
        assert!(!languages(&"thisComponent.getSheets ".repeat(9), None).is_empty());
    }

    /// An English page that ends in a list of things, whose letters happen to be Catalan.
    #[test]
    fn a_strange_end() {
        let (_, english) = SENTENCES[0];
        let list = "Set car lamp 4, fan 2, pump 9. Tab Ctrl Esc Del Alt";
        assert_eq!(language(list), "cat");
        assert_eq!(language(&format!("{english} {english} {list}")), "eng");
    }

    #[test]
    fn hints_and_scraps() {
        assert_eq!(languages("", Some("de")), [""; 0]);
        assert_eq!(languages("123 456 !!", Some("de")), [""; 0]);
        assert_eq!(languages("Bratislava info", Some("sk-SK")), ["slk"]);
        assert_eq!(
            languages("Москва сегодня", Some("de")).first(),
            languages("Москва сегодня", None).first()
        );
        let (_, german) = SENTENCES[1];
        assert_eq!(languages(german, Some("en")), ["deu"]);
    }

    proptest! {
        #[test]
        fn any_text(text in "\\PC{0,300}", hint in ".{0,6}") {
            let found = languages(&text, Some(&hint));
            prop_assert!(found.len() <= 3);
            prop_assert!(found.iter().all(|code| code.len() == 3));
        }
    }
}

//! From what pages call languages (`de-AT`) to ISO 639-3.

/// Two letters and three letters, of the languages that can be told.
const CODES: &str = "af afr sq sqi eu eus bs bos hr hrv br bre ca cat co cos cs ces da dan nl nld en eng eo epo et est fo fao fi fin fr fra fy fry \
    gl glg de deu ht hat ha hau hu hun is isl ig ibo id ind in ind ga gle it ita jv jav rw kin la lat lv lav lt lit lb ltz ln lin lg lug mg mlg \
    ms msa mt mlt mi mri no nor nb nor nn nno oc oci om orm pl pol pt por qu que rm roh ro ron mo ron rn run gd gla sn sna sk slk sl slv so som \
    st sot es spa su sun sw swa sv swe tl tgl to ton tn tsn ts tso tr tur tk tuk uz uzb vi vie cy cym wo wol xh xho yo yor zu zul az aze ny nya \
    ss ssw ve ven kl kal sr srp ku kur ru rus uk ukr be bel bg bul mk mkd kk kaz ky kir tt tat tg tgk mn mon cv chv ab abk os oss ar ara fa fas \
    ps pus ur urd ug uig hi hin mr mar ne nep sa san dz dzo bo bod am amh ti tir he heb iw heb yi yid el ell zh zho ja jpn ko kor th tha lo lao \
    km khm my mya ka kat hy hye bn ben pa pan gu guj or ori ta tam te tel kn kan ml mal si sin dv div";

/// The code of a language tag, if it is one of a language that can be told.
pub(crate) fn of_tag(tag: &str) -> Option<&'static str> {
    let first = tag.trim().split(['-', '_', ',', ' ']).next()?;
    let mut words = CODES.split_ascii_whitespace();
    while let (Some(short), Some(long)) = (words.next(), words.next()) {
        if short.eq_ignore_ascii_case(first) || long.eq_ignore_ascii_case(first) {
            return Some(long);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        for (tag, code) in [
            ("de-AT", Some("deu")),
            ("EN", Some("eng")),
            (" pt_BR ", Some("por")),
            ("nb", Some("nor")),
            ("deu", Some("deu")),
            ("tlh", None),
            ("", None),
        ] {
            assert_eq!(of_tag(tag), code, "{tag}");
        }
        assert_eq!(CODES.split_ascii_whitespace().count() % 2, 0);
    }
}

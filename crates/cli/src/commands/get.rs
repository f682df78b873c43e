//! `mattock get`: prints a stored page.

use mattock_analyze::{Document, Value, built_in};
use mattock_env::is_url;
use mattock_index::Asked;

use crate::args::repository::{GetArgs, Print};
use crate::exit::{Ended, Usage};
use crate::instances::{Instance, Records, instances};
use crate::output;
use crate::places::Places;
use crate::repository::{Repository, milliseconds, plain_options};

pub(crate) fn run(args: &GetArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::of([args.dir.as_path()]);
    let asked = Asked::parse(&args.url)?;
    let url = asked.url();
    let session = Repository::open(&env, &args.dir)?.session(plain_options())?;
    let all = instances(&session, &asked)?;
    let at = args.at.as_deref().map(milliseconds).transpose()?;
    let Some(instance) = chosen(&all, at) else {
        let what = match all.first() {
            None if is_url(&args.dir) => format!("no instance of {} is stored", url.as_str()),
            None => format!(
                "no instance of {} is stored; to see why: mattock why {} {}",
                url.as_str(),
                args.dir.display(),
                url.as_str()
            ),
            Some(first) => {
                format!("no instance of {} is that old: the first is of {}", url.as_str(), first.time())
            }
        };
        return Err(Usage(what).into());
    };
    say!("{} of {}, status {}", url.as_str(), instance.time(), instance.status);
    let mut records = Records::new(&env, &args.dir, &session);
    let bytes = match args.print {
        Print::Record => records.record(instance)?,
        Print::Head => records.response(instance)?.head,
        Print::Body => records.response(instance)?.body,
        Print::Text => {
            let response = records.response(instance)?;
            let (head, body) = (&response.head, &response.body);
            let document =
                Document::new(url.as_str(), instance.time_ms * 1000, instance.status, head, body, false);
            match built_in("text").expect("it is built in").analyze(&document)? {
                Value::Text(text) => (text + "\n").into_bytes(),
                _ => Vec::new(),
            }
        }
    };
    output::print_document(&bytes)?;
    Ok(Ended::Done)
}

/// The newest, or the one that was the newest at that time.
fn chosen(all: &[Instance], at_ms: Option<i64>) -> Option<&Instance> {
    all.iter().rfind(|instance| at_ms.is_none_or(|at| instance.time_ms <= at))
}

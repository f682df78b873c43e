//! How many pages a domain may have in one pass, by how many domains link to it: the budget function F(dₓ) of IRLbot, §5.2.

use super::ranks::Ranks;

/// The budget of those who may have everything.
pub const UNLIMITED: u32 = u32::MAX;

/// Which domains may have how many pages in each pass of the crawl. What is over budget waits; nothing is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetPolicy {
    /// IRLbot's (§7.2): by rank, the `top` domains get from `most` down to `least` pages in equal steps, all others `least`.
    /// While fewer are known the steps are larger, so that the first still gets `most` and the last `least`.
    Broad {
        /// Ranks that get more than the least.
        top: usize,
        /// For everybody.
        least: u32,
        /// For the domain that most others link to.
        most: u32,
    },
    /// The same for all.
    Equal {
        /// Pages for each domain.
        pages: u32,
    },
    /// Everything for domains that are linked to a lot, and nothing for others until they are, too. Seeds should not have to
    /// pass here: nobody links to them yet.
    PopularOnly {
        /// How many domains count as popular; while fewer are known, all of them do.
        top: usize,
        /// From how many linking domains on.
        degree_least: u64,
        /// Pages for each of them.
        pages: u32,
    },
    /// Everything for everybody: for crawls of a few chosen sites.
    Unlimited,
}

impl BudgetPolicy {
    /// IRLbot's figures: the top 10,000 get 10 to 10,000 pages, all others 10.
    pub fn broad() -> BudgetPolicy {
        BudgetPolicy::Broad { top: 10_000, least: 10, most: 10_000 }
    }

    /// The top 10,000 get `pages` each, if at least two domains link to them.
    pub fn popular_only(pages: u32) -> BudgetPolicy {
        BudgetPolicy::PopularOnly { top: 10_000, degree_least: 2, pages }
    }

    /// The name that is configured and shown.
    pub fn name(&self) -> &'static str {
        match self {
            BudgetPolicy::Broad { .. } => "broad",
            BudgetPolicy::Equal { .. } => "equal",
            BudgetPolicy::PopularOnly { .. } => "popular-only",
            BudgetPolicy::Unlimited => "unlimited",
        }
    }

    /// Whether it matters who links to whom. If not, nobody has to count.
    pub fn uses_degrees(&self) -> bool {
        matches!(self, BudgetPolicy::Broad { .. } | BudgetPolicy::PopularOnly { .. })
    }

    /// Whether enough is known of a domain with this in-degree to give it what the budget says. Who is not proven waits "until more
    /// is known about their legitimacy" (§6.2); [`crate::budget`] says for how long.
    ///
    /// The paper gives everybody the least budget at once. A farm of thousands of domains then has thousands of times that, and while
    /// those whom many link to wait for their delays, the farm has everything in between. Under [`BudgetPolicy::Broad`] a domain is
    /// proven if as many others link to it as the largest in-degree has binary digits: 6 of 50, 22 of 3 million. Whoever builds a farm
    /// needs links to it from so many domains before anybody looks at it.
    pub(super) fn is_proven(&self, degree: u64, ranks: &Ranks) -> bool {
        let digits = u64::BITS - ranks.largest().leading_zeros();
        !self.has_probation() || degree >= u64::from(digits)
    }

    /// Whether there are any who are not proven.
    pub(crate) fn has_probation(&self) -> bool {
        matches!(self, BudgetPolicy::Broad { .. })
    }

    /// Ranks that have to be told apart.
    pub(super) fn top(&self) -> usize {
        match self {
            BudgetPolicy::Broad { top, .. } | BudgetPolicy::PopularOnly { top, .. } => (*top).max(1),
            BudgetPolicy::Equal { .. } | BudgetPolicy::Unlimited => 1,
        }
    }

    /// The budget of a domain with this in-degree.
    pub(super) fn budget(&self, degree: u64, ranks: &Ranks) -> u32 {
        match *self {
            BudgetPolicy::Unlimited => UNLIMITED,
            BudgetPolicy::Equal { pages } => pages,
            BudgetPolicy::PopularOnly { degree_least, pages, .. } => {
                if degree >= degree_least && ranks.is_top(degree) { pages } else { 0 }
            }
            BudgetPolicy::Broad { least, most, .. } => match ranks.rank(degree) {
                Some((rank, of)) if of > 1 => {
                    let span = u64::from(most.saturating_sub(least));
                    least + (span * (of - rank) as u64 / (of - 1) as u64) as u32
                }
                _ => least,
            },
        }
    }
}

/// A budget times the share that the domain deserves of it, at least 1 where there is any.
pub(super) fn scaled(budget: u32, factor: u8) -> u32 {
    if factor == u8::MAX || budget == 0 || budget == UNLIMITED {
        return budget;
    }
    ((u64::from(budget) * u64::from(factor) / u64::from(u8::MAX)) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(top: usize, degrees: impl IntoIterator<Item = u64>) -> Ranks {
        let mut ranks = Ranks::new(top);
        for (domain, degree) in degrees.into_iter().enumerate() {
            ranks.note(domain as u64, degree);
        }
        ranks.recount();
        ranks
    }

    #[test]
    fn broad_budgets_fall_in_equal_steps_down_to_that_of_all_others() {
        let policy = BudgetPolicy::Broad { top: 5, least: 10, most: 50 };
        let ranks = ranks(5, [3, 900, 70, 11, 12, 500, 1, 2]);
        let budgets = [900, 500, 70, 12, 11, 3, 1, 0].map(|degree| policy.budget(degree, &ranks));
        assert_eq!(budgets, [50, 40, 30, 20, 10, 10, 10, 10]);
    }

    #[test]
    fn domains_that_are_all_alike_get_the_least() {
        let policy = BudgetPolicy::broad();
        assert_eq!(policy.budget(1, &ranks(10_000, [1; 100])), 10);
        assert_eq!(policy.budget(1, &ranks(10_000, [1])), 10);
        assert_eq!(policy.budget(7, &ranks(10_000, [])), 10);
        // One that stands out.
        assert_eq!(policy.budget(2, &ranks(10_000, [1, 1, 2])), 10_000);
    }

    #[test]
    fn how_many_must_link_to_a_domain_grows_with_the_logarithm_of_the_most() {
        let policy = BudgetPolicy::broad();
        assert!(policy.is_proven(0, &ranks(10_000, [])), "nobody stands out yet");
        let needed = [1, 2, 3, 4, 50, 3_000_000].map(|most| {
            let ranks = ranks(10_000, [most, 1, 1]);
            (0..most).find(|degree| policy.is_proven(*degree, &ranks)).unwrap_or(most)
        });
        assert_eq!(needed, [1, 2, 2, 3, 6, 22]);
        assert!(BudgetPolicy::Equal { pages: 1 }.is_proven(0, &ranks(1, [9])));
    }

    #[test]
    fn the_unpopular_get_nothing_as_long_as_they_are() {
        let policy = BudgetPolicy::PopularOnly { top: 3, degree_least: 2, pages: 99 };
        let few = ranks(3, [5, 1]);
        assert_eq!([5, 2, 1, 0].map(|degree| policy.budget(degree, &few)), [99, 99, 0, 0]);
        let many = ranks(3, [5, 9, 8, 7, 2]);
        assert_eq!([9, 7, 6, 5, 2].map(|degree| policy.budget(degree, &many)), [99, 99, 0, 0, 0]);
    }

    #[test]
    fn a_share_leaves_at_least_one_page() {
        assert_eq!(scaled(100, u8::MAX), 100);
        assert_eq!(scaled(100, 51), 20);
        assert_eq!(scaled(100, 0), 1);
        assert_eq!(scaled(0, 9), 0);
        assert_eq!(scaled(UNLIMITED, 9), UNLIMITED);
    }
}

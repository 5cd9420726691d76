//! What blocks of every kind have in common: what they are for, the links that they name, and a quick form.

use serde::{Deserialize, Serialize};

/// The word for no link.
pub const NO_LINK: &str = "-";

/// What the quick form of a study does with a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quick<Factors> {
    /// `quick = false` leaves the block out; `true` keeps it whole.
    Keep(bool),
    /// Other factors; what is absent stays as it is.
    Other(Box<Factors>),
}

/// Every combination of a block's factors is a cell.
pub trait Block: Clone {
    /// Its factors in the quick form.
    type Factors;

    fn about(&self) -> &str;

    /// What the quick form does with it; none: it keeps it whole.
    fn quick(&mut self) -> &mut Option<Quick<Self::Factors>>;

    /// Takes these factors in place of its own.
    fn apply(&mut self, factors: Self::Factors);

    /// The links that it goes over, [`NO_LINK`] among them.
    fn links(&self) -> &[String] {
        &[]
    }

    /// The block as the quick form has it; none when it leaves it out.
    fn quick_form(&self) -> Option<Self> {
        let mut block = self.clone();
        match block.quick().take() {
            Some(Quick::Keep(false)) => return None,
            Some(Quick::Keep(true)) | None => {}
            Some(Quick::Other(factors)) => block.apply(*factors),
        }
        Some(block)
    }
}

/// Blocks as a study has them, or as its quick form does.
pub fn in_form<B: Block>(blocks: &[B], is_quick: bool) -> Vec<B> {
    if is_quick { blocks.iter().filter_map(Block::quick_form).collect() } else { blocks.to_vec() }
}

/// The links that blocks name, in their quick form too.
pub fn links_of<B: Block>(blocks: &[B]) -> Vec<String> {
    let forms = blocks.iter().cloned().chain(blocks.iter().filter_map(Block::quick_form));
    let links = forms.flat_map(|block| block.links().to_vec());
    links.filter(|link| link != NO_LINK).collect()
}

pub(crate) fn to_strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

pub(crate) fn no_link() -> Vec<String> {
    to_strings([NO_LINK])
}

/// The factors that a block may have otherwise in its quick form, and the block's part of [`Block`]. `links` names its list of links, where
/// it has one; `more` a factor that is not a field of the block, and how it is applied.
macro_rules! quick_factors {
    (
        $name:ident of $block:ident $(with $links:ident)?: $($factor:ident: $kind:ty),*
        $(; $more:ident: $more_kind:ty => $lay:expr)?
    ) => {
        #[doc = concat!("The factors of a [`", stringify!($block), "`] in the quick form; what is absent stays as it is.")]
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = concat!("See [`", stringify!($block), "::", stringify!($factor), "`].")]
                pub $factor: Option<$kind>,
            )*
            $(
                #[doc = concat!("See [`", stringify!($block), "`].")]
                pub $more: Option<$more_kind>,
            )?
        }

        impl Block for $block {
            type Factors = $name;

            fn about(&self) -> &str {
                &self.about
            }

            fn quick(&mut self) -> &mut Option<Quick<$name>> {
                &mut self.quick
            }

            fn apply(&mut self, factors: $name) {
                $(
                    if let Some(factor) = factors.$factor {
                        self.$factor = factor;
                    }
                )*
                $(
                    if let Some(more) = factors.$more {
                        $lay(self, more);
                    }
                )?
            }

            $(
                fn links(&self) -> &[String] {
                    &self.$links
                }
            )?
        }
    };
}
pub(crate) use quick_factors;

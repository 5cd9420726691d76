//! Blocks of deliveries with what is the user's own in them, in the quick form too.

use weigh_model::study::delivery::QuickDelivery;
use weigh_model::study::{DeliveryBlock, Study};
use weigh_model::way::CONFIG;

/// The study on one server alone, with the user's configuration among the ways of every block. What was published of another
/// server is left out.
pub fn configured(study: &Study, server: &str) -> Study {
    let mut study = study.clone();
    let way = format!("server/{CONFIG}");
    for block in &mut study.deliveries {
        block.servers = vec![server.to_owned()];
        block.ways.push(way.clone());
        if let Some(QuickDelivery::Other(factors)) = &mut block.quick {
            factors.servers = None;
            factors.ways.iter_mut().for_each(|ways| ways.push(way.clone()));
        }
    }
    study.published_delivery = study.published_delivery.filter(|table| table.server == server);
    study
}

/// The block with these contents, of the sizes that it has.
pub fn with_content(block: &DeliveryBlock, content: Vec<String>) -> DeliveryBlock {
    let mut block = block.clone();
    block.content = content;
    if let Some(QuickDelivery::Other(factors)) = &mut block.quick {
        factors.content = None;
    }
    block
}

/// Whether the block cuts its content to sizes.
pub fn is_ladder(block: &DeliveryBlock) -> bool {
    !block.sizes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> Study {
        let text = r#"
            schema = 1
            name = "s"
            title = "t"
            question = "q"
            reading = "r"
            [[deliveries]]
            subject = "asset"
            content = ["corpus:a"]
            servers = ["*"]
            runtimes = ["-"]
            ways = ["plain", "gzip:6"]
            quick = { content = ["corpus:b"], servers = ["apache"], ways = ["plain"] }
        "#;
        Study::parse(text, "s.toml").unwrap()
    }

    #[test]
    fn a_configured_study_keeps_its_ways_on_the_one_server() {
        let study = configured(&study(), "nginx");
        let whole = &study.deliveries[0];
        assert_eq!((whole.servers.as_slice(), whole.ways.len()), (&["nginx".to_owned()][..], 3));
        let quick = whole.quick_form().unwrap();
        assert_eq!(quick.servers, ["nginx"]);
        assert_eq!(quick.ways, ["plain", "server/config"]);
    }

    #[test]
    fn the_users_content_is_that_of_the_quick_form_too() {
        let block = with_content(&study().deliveries[0], vec!["mine".into()]);
        assert_eq!(
            (&block.content, block.quick_form().unwrap().content),
            (&vec!["mine".to_owned()], vec!["mine".into()])
        );
        assert!(!is_ladder(&block));
    }
}

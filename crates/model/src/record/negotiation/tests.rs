use super::*;

#[test]
fn a_wrong_body_is_told_with_what_was_asked() {
    let wrong = Exchange {
        ask: NegotiationRequest { accept: Some("br".into()), ..NegotiationRequest::default() },
        answer: Answer {
            status: 200,
            content_encoding: Some("br".into()),
            body: Body::Wrong,
            ..Answer::default()
        },
    };
    let negotiation = Negotiation { exchanges: vec![Exchange::default(), wrong], ended: None };
    let said = negotiation.wrong_body().unwrap();
    assert_eq!(said, "the br body for Accept-Encoding `br`: the body is not the content");
    assert_eq!(Negotiation::default().wrong_body(), None);
}

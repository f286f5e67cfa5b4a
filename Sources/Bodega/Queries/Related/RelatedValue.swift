/// The form in which a query includes related items: an optional for a reference to one item, an array for references
/// to several, or from several.
///
/// Only `Optional` and `Array` conform.
public protocol RelatedValue<Target> {
    /// The type of the related items.
    associatedtype Target

    /// Creates the value of related items, in order.
    init(relatedItems: [Target])
}

extension Optional: RelatedValue {
    /// The first of the related items, `nil` if there are none.
    public init(relatedItems: [Wrapped]) { self = relatedItems.first }
}

extension Array: RelatedValue {
    /// The related items.
    public init(relatedItems: [Element]) { self = relatedItems }
}

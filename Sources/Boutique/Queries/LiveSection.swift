/// The items of a ``SectionedLiveQuery`` that have the same value.
///
/// The value identifies the section: `ForEach(window.sections) { section in … }`.
public struct LiveSection<Value: Hashable & Sendable, Item: StorableItem>: Identifiable, Sendable {
    /// The value that all items of the section have.
    public let value: Value
    /// The items, in the order of the query. There is at least one.
    public internal(set) var items: [Item]

    /// The value.
    public var id: Value { value }

    init(_ value: Value, _ items: [Item]) { (self.value, self.items) = (value, items) }
}

extension LiveSection: Equatable where Item: Equatable {}

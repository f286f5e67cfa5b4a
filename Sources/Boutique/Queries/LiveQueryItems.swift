import Bodega
#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// The property wrapper of a query's `items`, which can be read, observed, and subscribed to as `$items`.
@MainActor
@propertyWrapper
public struct LiveQueryItems<Item: StorableItem> {
    let model: LiveQueryModel<Item>

    nonisolated init(_ model: LiveQueryModel<Item>) {
        self.model = model
    }

    /// The items, in the order of the query.
    public var wrappedValue: [Item] { model.observedItems }

    /// A publisher of the items: once on subscription, then after each change, on the main actor.
    public nonisolated var projectedValue: AnyPublisher<[Item], Never> { model.publisher.publisher }
}

/// Publishes the items of a query.
///
/// @unchecked because the subject guards its state with a lock, but is not declared Sendable in every module.
final class ItemsPublisher<Item: StorableItem>: @unchecked Sendable {
    private let subject = CurrentValueSubject<[Item], Never>([])

    var publisher: AnyPublisher<[Item], Never> { subject.eraseToAnyPublisher() }

    func send(_ items: [Item]) { subject.send(items) }

    func finish() { subject.send(completion: .finished) }
}

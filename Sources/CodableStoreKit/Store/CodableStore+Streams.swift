// The stream passes the objects to another task, so they must be Sendable.
extension CodableStore where Object: Sendable {

    /// Returns a stream of future changes of all objects of the collection.
    ///
    /// The stream buffers events until they are read. The observation ends with the loop or task that reads the stream.
    public func events() -> AsyncStream<ObserveEvent> {
        stream { self.observeCollection(on: .immediate, $0) }
    }

    /// Returns a stream of future changes of the object with the same identifier.
    ///
    /// - Parameter object: An object with the identifier. It need not be stored.
    public func events(of object: Object) -> AsyncStream<ObserveEvent> {
        stream { self.observe(object, on: .immediate, $0) }
    }

    /// Returns a stream of future changes of the object with an identifier.
    ///
    /// - Parameter identifier: The object's identifier. The object need not be stored.
    public func events(identifier: Object.ID) -> AsyncStream<ObserveEvent> {
        stream { self.observe(identifier: identifier, on: .immediate, $0) }
    }

    /// Returns a stream of future changes of the objects that satisfy a condition.
    ///
    /// - Parameter predicate: The condition. It receives an object as it was saved, or stored before it was deleted.
    public func events(where predicate: @escaping @Sendable (Object) -> Bool) -> AsyncStream<ObserveEvent> {
        stream { self.observe(where: predicate, on: .immediate, $0) }
    }

    private func stream(
        _ observe: (@escaping Observer) -> ObservableCodableStoreSubscription
    ) -> AsyncStream<ObserveEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ObserveEvent.self)
        let subscription = observe { continuation.yield($0) }
        continuation.onTermination = { _ in subscription.unsubscribe() }
        return stream
    }
}

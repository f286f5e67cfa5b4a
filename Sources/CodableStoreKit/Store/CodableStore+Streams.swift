// An event is handed over to one reader, so the objects need to be safe to hand over.
extension CodableStore where Object: Sendable {

    /// What happens to the objects of the collection from now on.
    ///
    /// Events that wait for their reader are kept. The observation ends with the loop or task that reads the stream.
    public func events() -> AsyncStream<ObserveEvent> {
        stream { self.observeCollection(on: .immediate, $0) }
    }

    /// What happens from now on to the object with the identifier of this one.
    ///
    /// - Parameter object: The object. It need not be stored.
    public func events(of object: Object) -> AsyncStream<ObserveEvent> {
        stream { self.observe(object, on: .immediate, $0) }
    }

    /// What happens from now on to the object with an identifier.
    ///
    /// - Parameter identifier: What identifies it. No object need have it.
    public func events(identifier: Object.ID) -> AsyncStream<ObserveEvent> {
        stream { self.observe(identifier: identifier, on: .immediate, $0) }
    }

    /// What happens from now on to the objects that meet a condition.
    ///
    /// - Parameter predicate: The condition, asked of an object as it was saved, or as it was stored before it was deleted.
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

extension Store {

    /// Waits until the items are loaded, then calls a closure, unless the calling task has been cancelled.
    ///
    /// If loading fails, it calls `onError` once and continues to wait, because ``reload()`` may succeed later.
    ///
    /// - Parameters:
    ///   - onLoad: A closure that is called once, when the items are loaded.
    ///   - onError: A closure that is called with the error if loading fails.
    package func whenLoaded(
        _ onLoad: @MainActor () -> Void,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) async {
        do {
            try await itemsHaveLoaded()
        } catch {
            if Task.isCancelled { return }
            onError?(error)
            // If the task is cancelled, the stream ends without this event.
            for await event in events where event.operation == .loaded { break }
        }
        if !Task.isCancelled { onLoad() }
    }
}

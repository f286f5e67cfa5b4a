#if canImport(SwiftUI)
public import SwiftUI

extension View {

    /// Calls a closure when the items of a store are loaded.
    ///
    /// ```swift
    /// List(notes) { … }
    ///     .onStoreDidLoad(store, onLoad: { isLoading = false }, onError: { problem = $0 })
    /// ```
    ///
    /// The modifier waits from the view's appearance to its disappearance. If the view appears again, or after the
    /// items were loaded, it calls the closure immediately. If loading has failed, it calls `onError`, and `onLoad`
    /// when a later ``Store/reload()`` succeeds.
    ///
    /// - Parameters:
    ///   - store: The store. If it is replaced by another store, the modifier waits for the new one.
    ///   - onLoad: Called when the items are loaded.
    ///   - onError: Called with the error if they could not be read.
    public func onStoreDidLoad<Item: StorableItem>(
        _ store: Store<Item>,
        onLoad: @escaping @MainActor () -> Void,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) -> some View {
        task(id: ObjectIdentifier(store)) { await store.whenLoaded(onLoad, onError: onError) }
    }

    /// Sets a flag when the items of a store are loaded.
    ///
    /// ```swift
    /// @State private var isLoaded = false
    ///
    /// var body: some View {
    ///     NotesList()
    ///         .onStoreDidLoad(store, update: $isLoaded)
    /// }
    /// ```
    ///
    /// The flag is never set to `false`, neither when loading fails nor when the view disappears.
    ///
    /// - Parameters:
    ///   - store: The store. If it is replaced by another store, the modifier waits for the new one.
    ///   - isLoaded: The flag; `true` when the items are loaded, also by a later ``Store/reload()``.
    ///   - onError: Called with the error if they could not be read.
    public func onStoreDidLoad<Item: StorableItem>(
        _ store: Store<Item>,
        update isLoaded: Binding<Bool>,
        onError: (@MainActor (any Error) -> Void)? = nil
    ) -> some View {
        onStoreDidLoad(store, onLoad: { isLoaded.wrappedValue = true }, onError: onError)
    }
}
#endif

// The changes. They do what those of `StoredValue` do; see `PersistedValue`.

extension AsyncStoredValue {

    /// Reads the value, changes it and stores it, in one step.
    ///
    /// No change that is made through the same engine object is lost. If another process, or another engine on the same
    /// data, changes the value between reading and storing it, that change is replaced.
    ///
    /// - Parameter change: Changes the value. It cannot change other values of engines.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then. An engine that
    ///   has stored it all the same, such as one whose answer was lost, is read again, and its value is shown.
    public func modify(_ change: @Sendable (inout Item) -> Void) async throws {
        try await core.modify(change)
    }

    /// Stores a value in place of the one that is there.
    ///
    /// - Parameter value: The new value.
    /// - Throws: A `StorageError` if the old value could not be read, or the new one not encoded or stored; it is
    ///   unchanged then.
    public func set(_ value: Item) async throws {
        try await modify { $0 = value }
    }

    /// Stores the default value.
    ///
    /// - Throws: A `StorageError` if the old value could not be read, or the new one not stored; it is unchanged then.
    public func reset() async throws {
        try await set(core.defaultValue)
    }
}

extension AsyncStoredValue {

    /// Changes one property of the value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func set<Property: Sendable>(
        _ keyPath: any WritableKeyPath<Item, Property> & Sendable, to property: Property
    ) async throws {
        try await modify { $0[keyPath: keyPath] = property }
    }

    /// Changes `false` to `true` and `true` to `false`.
    ///
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func toggle() async throws where Item == Bool {
        try await modify { $0.toggle() }
    }

    /// Adds an element at the end of the collection, such as an array or a string.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func append(_ element: Item.Element) async throws
    where Item: RangeReplaceableCollection, Item.Element: Sendable {
        try await modify { $0.append(element) }
    }

    /// Puts an element in the place of the first that equals another. If none does, nothing changes.
    ///
    /// - Parameters:
    ///   - element: The element to look for.
    ///   - replacement: What takes its place.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func replace<Element: Equatable & Sendable>(
        _ element: Element,
        with replacement: Element
    ) async throws where Item == [Element] {
        try await modify { _ = $0.replaceFirst(element, with: replacement) }
    }

    /// Removes an element from the array, wherever it occurs, or adds it at the end if it does not occur.
    ///
    /// - Parameter element: The element.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        try await modify { $0.togglePresence(of: element) }
    }

    /// Sets the entry of a key in the dictionary.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The entry's new value, or `nil` to remove the entry.
    /// - Throws: A `StorageError` if the value could not be read, encoded or stored; it is unchanged then.
    public func update<Key: Hashable & Sendable, Entry: Sendable>(key: Key, value: Entry?) async throws
    where Item == [Key: Entry] {
        try await modify { $0[key] = value }
    }
}

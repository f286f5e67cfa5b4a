public import Bodega
public import Foundation

extension HTTPStorageEngine {

    /// Reads an item with one request, or with the collection if its identifier can't be sent.
    public func fetch(key: CacheKey) async throws -> Data? {
        guard collection.canAddress(key) else { return try await fetchAll().first { $0.key == key }?.data }
        return try await fetchResponse(key: key)?.data
    }

    /// Reads several items with a request for each, several at a time, or with the collection if an identifier can't be
    /// sent.
    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        var items: [CacheKey: Data] = [:]
        guard keys.allSatisfy(collection.canAddress) else {
            for (key, data) in try await fetchAll() { items[key] = data }
            return keys.compactMap { key in items[key].map { (key, $0) } }
        }
        try await withThrowingTaskGroup(of: (CacheKey, Data?).self) { group in
            var remaining = Set(keys).makeIterator()
            func next() {
                guard let key = remaining.next() else { return }
                group.addTask { (key, try await fetch(key: key)) }
            }
            for _ in 0..<max(options.maximumConcurrentRequests, 1) { next() }
            while let (key, data) = try await group.next() {
                items[key] = data
                next()
            }
        }
        return keys.compactMap { key in items[key].map { (key, $0) } }
    }

    /// Reads all items with a request for each page.
    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        var items: [(key: CacheKey, data: Data)] = []
        var places: [CacheKey: Int] = [:]
        var pages: Set<URL> = []
        var next: URL? = collection.url
        while let page = next {
            guard pages.insert(page).inserted, pages.count <= options.maximumPages else {
                throw StorageError(
                    .decodingFailed,
                    "The pages of the collection form a circle, or are more than the limit of \(options.maximumPages).")
            }
            let response = try await send(.get, page)
            for (key, data) in try self.items(of: response) {
                if let place = places[key] {
                    items[place].data = data
                } else {
                    places[key] = items.count
                    items.append((key, data))
                }
            }
            next = try self.page(after: page, response)
        }
        return items
    }

    /// Reads the keys of all items, which takes as long as reading the items.
    public func fetchKeys() async throws -> [CacheKey] {
        try await fetchAll().map(\.key)
    }

    /// Looks for few keys with a request for each, and for many among all keys.
    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        if candidates.count <= options.maximumConcurrentRequests {
            return try await fetch(keys: candidates).map(\.key)
        }
        let existing = Set(try await fetchKeys())
        return candidates.filter(existing.contains)
    }

    /// Reads the date of an item's last change from the header `Last-Modified`. It is also the date of its creation.
    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        guard let response = try await fetchResponse(key: key)?.response else { return nil }
        guard let date = response.header("Last-Modified").flatMap({ HTTPDate.date(of: $0) }) else {
            throw StorageError(
                .inputOutput,
                "The server reports no date of the item: its response has no header Last-Modified with a date.",
                key: key)
        }
        return StorageDates(createdAt: date, updatedAt: date)
    }

    private func fetchResponse(key: CacheKey) async throws -> (response: HTTPStorageResponse, data: Data)? {
        guard let url = try collection.url(of: key) else { return nil }
        let response = try await send(.get, url, key: key)
        if response.isAbsence { return nil }
        do {
            let object = try objects.object(in: response.body)
            let id = CacheKey(object.id)
            guard id == key || id.isSameUUID(as: key) else {
                throw JSONFailure("It is the object \(object.id.debugDescription).")
            }
            return (response, object.data)
        } catch let failure as JSONFailure {
            throw StorageError(
                .decodingFailed,
                "The response is not that item. \(failure.message) GET \(HTTPCollection.description(of: url))",
                key: key)
        }
    }

    private func items(of response: HTTPStorageResponse) throws -> [(key: CacheKey, data: Data)] {
        do {
            return try objects.objects(inCollection: response.body).map { object in
                if object.id.isEmpty { throw JSONFailure("An object has an empty identifier.", id: object.id) }
                return (CacheKey(object.id), object.data)
            }
        } catch let failure as JSONFailure {
            throw StorageError(
                .decodingFailed, "\(failure.message) GET \(HTTPCollection.description(of: collection.url))",
                key: failure.id.map { CacheKey($0) })
        }
    }

    private func page(after page: URL, _ response: HTTPStorageResponse) throws -> URL? {
        let references: [String]
        do {
            references = try response.header("Link").map(LinkHeader.next(in:)) ?? []
        } catch {
            throw StorageError(
                .decodingFailed, "The header Link can't be read, so the collection may have further pages.",
                cause: error)
        }
        guard let reference = references.first else { return nil }
        guard references.count == 1 else {
            throw StorageError(.decodingFailed, "The header Link names several next pages of the collection.")
        }
        guard let url = collection.url(ofPage: reference, from: page) else {
            throw StorageError(
                .decodingFailed,
                "The next page of the collection is on another server, which must not receive the headers.")
        }
        return url
    }
}

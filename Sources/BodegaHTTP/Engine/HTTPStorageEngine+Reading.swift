public import Bodega
public import Foundation

extension HTTPStorageEngine {

    /// Reads an item with one request.
    public func fetch(key: CacheKey) async throws -> Data? {
        try await fetchResponse(key: key)?.data
    }

    /// Reads several items with a request for each, several at a time.
    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        var items: [CacheKey: Data] = [:]
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
        guard let date = response.header("Last-Modified").flatMap(HTTPDate.date(of:)) else {
            throw StorageError(
                .inputOutput, "The server reports no date of the item: its response lacks the header Last-Modified.",
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
            guard CacheKey(object.id) == key else {
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
                let key = CacheKey(object.id)
                guard try HTTPCollection.segment(of: key) != nil else {
                    throw JSONFailure("An object has an empty identifier.", id: object.id)
                }
                return (key, object.data)
            }
        } catch let failure as JSONFailure {
            throw StorageError(
                .decodingFailed, "\(failure.message) GET \(HTTPCollection.description(of: collection.url))",
                key: failure.id.map { CacheKey($0) })
        } catch let error as StorageError {
            throw StorageError(.decodingFailed, "An object can't be an item.", key: error.key, cause: error)
        }
    }

    private func page(after page: URL, _ response: HTTPStorageResponse) throws -> URL? {
        guard let reference = response.header("Link").flatMap(LinkHeader.next(in:)) else { return nil }
        guard let url = collection.url(ofPage: reference, from: page) else {
            throw StorageError(
                .decodingFailed,
                "The next page of the collection is on another server, which must not receive the headers.")
        }
        return url
    }
}

/// Dates of HTTP in their preferred form: RFC 9110, section 5.6.7.
enum HTTPDate {
    static func date(of text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}

public import Bodega
public import Foundation

extension HTTPStorageEngine {

    /// Reads an item with one request, or with the collection if its identifier can't be sent.
    public func fetch(key: CacheKey) async throws -> Data? {
        guard collection.canAddress(key) else { return try await fetchCollection().fetch(key: key) }
        return try await fetchResponse(key: key)?.data
    }

    /// Reads several items with a request for each, several at a time.
    ///
    /// It reads the collection instead if an identifier can't be sent, for places, or to look for many keys. The date
    /// of an item's last change is that of the header `Last-Modified`. It is also the date of its creation.
    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        let (keys, fields) = (request.keys, request.fields)
        if fields.contains(.dates) {
            return try await fields.contains(.place) ? fetchWithPlaces(request) : fetchEach(request)
        }
        let hasManyKeys = !fields.contains(.data) && keys.count > options.maximumConcurrentRequests
        if hasManyKeys || fields.contains(.place) || !keys.allSatisfy(collection.canAddress) {
            return try await fetchCollection().fetch(request)
        }
        return try await fetchEach(request)
    }

    /// Reads the collection with a request for each page, and then, if dates are requested, each item.
    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        if request.needsCursor || request.fields.contains(.dates) { return try await scanByKeys(request, begin) }
        return try await fetchCollection().scan(request, begin)
    }

    private func fetchEach(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        var items: [CacheKey: StorageItem] = [:]
        var report = StorageReport()
        try await withThrowingTaskGroup(of: StorageAnswer<[StorageItem]>.self) { group in
            let keys = Set(request.keys)
            var remaining = keys.makeIterator()
            func next() {
                guard let key = remaining.next() else { return }
                group.addTask { try await fetchItem(key, request.fields, request.options) }
            }
            for _ in 0..<min(max(options.maximumConcurrentRequests, 1), keys.count) { next() }
            while let answer = try await group.next() {
                for item in answer.value { items[item.key] = item }
                report.add(answer.report)
                next()
            }
        }
        return StorageAnswer(request.keys.compactMap { items[$0] }, report)
    }

    private func fetchItem(
        _ key: CacheKey, _ fields: StorageFields, _ options: ReadOptions
    ) async throws -> StorageAnswer<[StorageItem]> {
        var answer = StorageAnswer<[StorageItem]>([])
        do {
            guard let (response, data) = try await fetchResponse(key: key) else { return answer }
            let dates = fields.contains(.dates) ? try dates(in: response, key: key) : nil
            answer.value = [StorageItem(key: key, data: data, dates: dates)]
        } catch let error as StorageError where error.code == .decodingFailed && options.omitsUnreadable {
            answer.report.unreadable = [error]
        }
        return answer
    }

    private func dates(in response: HTTPStorageResponse, key: CacheKey) throws -> StorageDates {
        guard let date = response.header("Last-Modified").flatMap({ HTTPDate.date(of: $0) }) else {
            throw StorageError(
                .inputOutput,
                "The server reports no date of the item: its response has no header Last-Modified with a date.",
                key: key)
        }
        return StorageDates(createdAt: date, updatedAt: date)
    }

    /// The items of the collection, without their dates.
    func fetchCollection() async throws -> MemoryStorageEngine {
        var items: [(key: CacheKey, data: Data)] = []
        var pages: Set<URL> = []
        var next: URL? = collection.url
        while let page = next {
            guard pages.insert(page).inserted, pages.count <= options.maximumPages else {
                throw StorageError(
                    .decodingFailed,
                    "The pages of the collection form a circle, or are more than the limit of \(options.maximumPages).")
            }
            let response = try await send(.get, page)
            items += try self.items(of: response)
            next = try self.page(after: page, response)
        }
        // An item on two pages is in the place of the first, with the bytes of the last.
        return MemoryStorageEngine(items: items)
    }

    func fetchResponse(key: CacheKey) async throws -> (response: HTTPStorageResponse, data: Data)? {
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

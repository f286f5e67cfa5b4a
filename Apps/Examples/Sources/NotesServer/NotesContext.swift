import Bodega
import Foundation
import HTTPTypes
import Hummingbird

struct NotesContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }

    /// A longer body is answered with status 413.
    var maxUploadSize: Int { 65_536 }

    /// The key of the note in the path.
    var key: CacheKey {
        get throws {
            guard let id = try parameters.require("id").removingPercentEncoding else { throw HTTPError(.badRequest) }
            return CacheKey(id)
        }
    }
}

extension HTTPField.Name {
    static let lastEventID = {
        guard let name = Self("Last-Event-ID") else { preconditionFailure("Last-Event-ID is a valid header name.") }
        return name
    }()
}

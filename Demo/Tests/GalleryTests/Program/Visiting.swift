import AsyncHTTPClient

/// The connections of the tests. When nobody listens that is said at once.
let http: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(configuration: configuration)
}()

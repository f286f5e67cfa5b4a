package import AsyncHTTPClient

/// The connections of the tests. A refused connection fails immediately.
package let http: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(configuration: configuration)
}()

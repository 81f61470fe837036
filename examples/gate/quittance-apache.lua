-- Asks a gate of Quittance about each request, and copies its answer into the request or to the client.
local http = require("socket.http")
local ltn12 = require("ltn12")

local GATE = "http://127.0.0.1:8402/authorize"
http.TIMEOUT = 60 -- a payment of x402 may take 50 seconds

-- What the API must not get from the client: the payment, and what only the gate says.
local function is_ours(name)
  local known = name:lower():gsub("_", "-")
  return known:find("^quittance%-") or known:find("^x%-settlement%-") or known == "x-payment"
    or known == "x-payment-request-id" or known == "x-quote-refused" or known == "payment-signature"
end

-- Of one connection, or of a body that the gate does not get.
local LEFT_OUT = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["expect"] = true,
  ["upgrade"] = true, ["te"] = true, ["x-forwarded-method"] = true, ["x-forwarded-uri"] = true,
}

function authorize(r)
  local asked = {}
  for name, value in pairs(r:headers_in_table()) do
    if not LEFT_OUT[name:lower()] then asked[name:lower()] = value end
  end
  asked["x-forwarded-method"] = r.method
  asked["x-forwarded-uri"] = r.unparsed_uri
  asked["x-forwarded-for"] = r.useragent_ip

  local body = {}
  local ok, status, headers = http.request({
    url = GATE, headers = asked, redirect = false, sink = ltn12.sink.table(body),
  })
  if not ok then return 503 end
  if status == 200 then
    for name, _ in pairs(r:headers_in_table()) do
      if is_ours(name) then r.headers_in[name] = nil end
    end
    -- A payment of MPP is not for the API. Its own credentials are.
    local credentials = r.headers_in["Authorization"]
    if credentials and credentials:lower():find("^%s*payment%s") then r.headers_in["Authorization"] = nil end
    for name, value in pairs(headers) do
      if name:find("^quittance%-") then r.headers_in[name] = value end
      if name == "payment-response" or name == "payment-receipt" then r.headers_out[name] = value end
    end
    return apache2.OK
  end

  r.status = status
  for name, value in pairs(headers) do
    if name == "content-type" then r.content_type = value
    elseif not LEFT_OUT[name] and name ~= "date" then r.err_headers_out[name] = value end
  end
  r:write(table.concat(body))
  return apache2.DONE
end
